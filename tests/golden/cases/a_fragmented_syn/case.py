# SPDX-License-Identifier: BSD-2-Clause
"""A SYN with data, in pieces: one flow, tracked by its first fragment."""

from golden import *

WHOLE = in4(id=77, flags=0) / TCP(sport=40000, dport=80, flags="S") / Raw(DATA[:60])
ACK = in4(id=78, flags=0) / TCP(sport=40000, dport=80, flags="A")
IN = cut4(WHOLE, 40) + [ACK]
OUT = [ipip4(piece, WHOLE) for piece in IN]
LINES = [tx("b4", i, service="web4") for i in range(3)]


def check(lines, frames):
    assert "slot" in lines[0]
    assert "slot" not in lines[1] and "slot" not in lines[2]
