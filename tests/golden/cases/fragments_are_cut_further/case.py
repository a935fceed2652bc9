# SPDX-License-Identifier: BSD-2-Clause
"""Offsets and MF go on from the fragment's own."""

from golden import *

WHOLE = in4(id=77, flags=0) / UDP(sport=4000, dport=53) / Raw(DATA[:5200])
FIRST, MIDDLE, LAST = cut4(WHOLE, 2000)
IN = [FIRST, MIDDLE, LAST]
PIECES = [[eth() / p for p in fragment(fixed(frame)[IP], 1456)] for frame in IN]
OUT = [ipip4(p, WHOLE) for pieces in PIECES for p in pieces]
LINES = [tx("b4", None, service="dns") | dict(out=out) for out in ([0, 1], [2, 3], [4])]
OUT_XDP = [ipip4(LAST, WHOLE)]
LINES_XDP = [drop("too_big"), drop("too_big"), tx("b4", 0)]


def check(lines, frames):
    """What the backend puts together again is what was sent."""
    if len(frames) == 1:
        return
    data = {}
    for frame in frames:
        packet = IP(frame[34:])
        data[packet.frag * 8] = frame[34 + packet.ihl * 4 :]
        assert bool(packet.flags.MF) == (packet.frag * 8 + len(data[packet.frag * 8]) < 5208)
    assert b"".join(data[at] for at in sorted(data)) == inner(WHOLE)[20:]
