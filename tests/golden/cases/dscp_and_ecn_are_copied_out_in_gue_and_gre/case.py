# SPDX-License-Identifier: BSD-2-Clause
"""RFC 6040 in the other modes, into both outer families."""

from golden import *

G4 = [in4(dst="203.0.113.141", flags="DF", tos=0x28 | e) / TCP(sport=40000 + e, dport=80, flags="S") for e in range(4)]
G6 = [in4(dst="203.0.113.142", flags="DF", tos=0xB8 | e) / TCP(sport=40000 + e, dport=80, flags="S") for e in range(4)]
R6 = [in6(dst="2001:db8:113::145", tc=0xFC | e) / TCP(sport=40000 + e, dport=80, flags="S") for e in range(4)]
IN = G4 + G6 + R6
OUT = [gue4(p, "10.82.0.141", tos=0x28 | e) for e, p in enumerate(G4)]
OUT += [gue6(p, "fd82::141", tc=0xB8 | e) for e, p in enumerate(G6)]
OUT += [outer6(gre(p), nh=47, backend="fd82::143", tc=0xFC | e) for e, p in enumerate(R6)]
LINES = [tx(name, 4 * n + i) for n, name in enumerate(("g4", "g6", "r6")) for i in range(4)]
