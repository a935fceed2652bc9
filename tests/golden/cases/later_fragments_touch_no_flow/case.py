# SPDX-License-Identifier: BSD-2-Clause
"""A flow lives by packets with ports: 60 s after the first fragment it is new again."""

from golden import *

WHOLE = in4(id=77, flags=0) / UDP(sport=4000, dport=53) / Raw(DATA[:2000])
FIRST, LATER = cut4(WHOLE, 1200)
IN = [(1000, FIRST), (1001.9, LATER), (1061.5, in4(id=78, flags=0) / UDP(sport=4000, dport=53))]
LINES = [tx("b4", i) for i in range(3)]


def check(lines, frames):
    assert "slot" in lines[2], "a tracked flow would not ask the table"
