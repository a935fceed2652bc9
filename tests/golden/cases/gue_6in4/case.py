# SPDX-License-Identifier: BSD-2-Clause
"""IPv6 in GUE over IPv4: IP directly in UDP (GUE variant 1), checksum 0."""

from golden import *

SYN = in6(dst="2001:db8:113::141") / TCP(sport=40000, dport=80, flags="S")
IN = [SYN]
OUT = [gue4(SYN, "10.82.0.141")]
LINES = [tx("g4", service="gue4")]
