# SPDX-License-Identifier: BSD-2-Clause
"""Inner DF clear: outer DF clear and outer id = inner id XOR the low 16 bits of the hash."""

from golden import *

SYN = in4(flags=0, id=0x1234) / TCP(sport=40000, dport=80, flags="S")
IN = [SYN]
LINES = [tx("b4")]


def check(lines, frames):
    ident = 0x1234 ^ (int(lines[0]["hash"], 16) & 0xFFFF)
    assert frames == [bytes(outer4(inner(SYN), proto=4, flags=0, ident=ident))]
