# SPDX-License-Identifier: BSD-2-Clause
"""Inner DF clear: outer DF clear, id = inner id XOR the low 16 bits of the hash, in every mode."""

from golden import *

G = in4(dst="203.0.113.141", id=0x4321) / TCP(sport=40000, dport=80, flags="S")
R = in4(dst="203.0.113.144", id=0xFFFF) / TCP(sport=40000, dport=80, flags="S")
IN = [G, R]
OUT = [
    gue4(G, "10.82.0.141", flags=0, ident=0x4321 ^ flow_hash(G) & 0xFFFF),
    outer4(gre(R), proto=47, backend="10.82.0.143", flags=0, ident=0xFFFF ^ flow_hash(R) & 0xFFFF),
]
LINES = [tx("g4", 0), tx("r4", 1)]
