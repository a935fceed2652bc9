# SPDX-License-Identifier: BSD-2-Clause
"""The inner packet is byte for byte what came in: TTL 1, options, a wrong header checksum."""

from golden import *

OPTIONS = [IPOption_NOP()] * 4
G = in4(dst="203.0.113.142", flags="DF", ttl=1, options=OPTIONS, chksum=0x1111) / TCP(sport=40000, dport=80, flags="S")
R = in4(dst="203.0.113.145", flags="DF", ttl=1, options=OPTIONS, chksum=0x1111) / TCP(sport=40000, dport=80, flags="S")
IN = [G, R]
OUT = [gue6(G, "fd82::141"), outer6(gre(R), nh=47, backend="fd82::143")]
LINES = [tx("g6", 0), tx("r6", 1)]
