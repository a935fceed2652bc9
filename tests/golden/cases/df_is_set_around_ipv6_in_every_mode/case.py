# SPDX-License-Identifier: BSD-2-Clause
"""IPv6 never is fragmented on the way, so its IPv4 outer header has DF and id 0."""

from golden import *

G = in6(dst="2001:db8:113::141") / TCP(sport=40000, dport=80, flags="S")
R = in6(dst="2001:db8:113::144") / TCP(sport=40000, dport=80, flags="S")
IN = [G, R]
OUT = [gue4(G, "10.82.0.141"), outer4(gre(R), proto=47, backend="10.82.0.143")]
LINES = [tx("g4", 0), tx("r4", 1)]
