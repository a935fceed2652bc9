# SPDX-License-Identifier: BSD-2-Clause
"""Outer DF = inner DF, with id 0, in every mode."""

from golden import *

G = in4(dst="203.0.113.141", flags="DF", id=0x4321) / TCP(sport=40000, dport=80, flags="S")
R = in4(dst="203.0.113.144", flags="DF", id=0x4321) / TCP(sport=40000, dport=80, flags="S")
IN = [G, R]
OUT = [gue4(G, "10.82.0.141", flags="DF", ident=0), outer4(gre(R), proto=47, backend="10.82.0.143", flags="DF", ident=0)]
LINES = [tx("g4", 0), tx("r4", 1)]
