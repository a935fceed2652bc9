# SPDX-License-Identifier: BSD-2-Clause
"""Ethernet padding does not travel: not in UDP, not in GRE, not by l2."""

from golden import *

def padded(dst):
    return Ether(bytes(in4(dst=dst, flags="DF") / TCP(sport=40000, dport=80, flags="S")) + bytes(range(11)))


G4, G6, R4, L4 = padded("203.0.113.141"), padded("203.0.113.142"), padded("203.0.113.144"), padded("203.0.113.146")
IN = [G4, G6, R4, L4]
OUT = [gue4(G4, "10.82.0.141"), gue6(G6, "fd82::141"), outer4(gre(R4), proto=47, backend="10.82.0.143"), l2(L4)]
LINES = [tx("g4", 0), tx("g6", 1), tx("r4", 2), tx("l4", 3)]
