# SPDX-License-Identifier: BSD-2-Clause
"""1460 bytes go whole, 1461 and more in pieces."""

from golden import *

ROOM = (1500 - 40 - 20) // 8 * 8
WHOLES = [in4(dst="203.0.113.20", id=77, flags=0) / TCP(sport=4000, dport=80) / Raw(DATA[: size - 40]) for size in (1460, 1461, 1500, 4000, 9000)]
PIECES = [cut4(whole, ROOM) if len(inner(whole)) > 1500 - 40 else [whole] for whole in WHOLES]
IN = WHOLES
OUT = [outer6(inner(p), nh=4) for whole, pieces in zip(WHOLES, PIECES) for p in pieces]
FIRSTS = [sum(map(len, PIECES[:i])) for i in range(len(PIECES))]
LINES = [dict(verdict="tx", backend="b6", out=list(range(at, at + len(pieces)))) for at, pieces in zip(FIRSTS, PIECES)]
WHOLE_ONES = [i for i, pieces in enumerate(PIECES) if len(pieces) == 1]
OUT_XDP = [frame for i in WHOLE_ONES for frame in OUT[FIRSTS[i] : FIRSTS[i] + 1]]
LINES_XDP = [
    tx("b6", WHOLE_ONES.index(i)) if i in WHOLE_ONES else drop("too_big") for i in range(len(WHOLES))
]
