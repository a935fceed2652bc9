# SPDX-License-Identifier: BSD-2-Clause
"""The outer headers do not depend on what is inside."""

from golden import *

S = in4(dst="203.0.113.142", flags="DF") / SCTP(sport=40000, dport=3868) / Raw(b"chunk")
E = in4(dst="203.0.113.144", flags="DF", proto=50) / Raw(b"esp payload")
L = in4(dst="203.0.113.146", flags="DF", proto=112, ttl=255) / Raw(b"any")
IN = [S, E, L]
OUT = [gue6(S, "fd82::141"), outer4(gre(E), proto=47, backend="10.82.0.143"), l2(L)]
LINES = [tx("g6", 0), tx("r4", 1), tx("l4", 2)]
