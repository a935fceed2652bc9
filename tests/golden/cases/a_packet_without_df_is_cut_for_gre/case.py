# SPDX-License-Identifier: BSD-2-Clause
"""1476 bytes go whole."""

from golden import *

ROOM = (1500 - 24 - 20) // 8 * 8
WHOLES = [in4(dst="203.0.113.144", id=77, flags=0) / UDP(sport=4000, dport=53) / Raw(DATA[: size - 28]) for size in (1476, 1477, 1500, 9000)]
PIECES = [cut4(whole, ROOM) if len(inner(whole)) > 1500 - 24 else [whole] for whole in WHOLES]
IN = WHOLES
OUT = [outer4(gre(p), proto=47, backend="10.82.0.143", flags=0, ident=77 ^ flow_hash(whole) & 0xFFFF) for whole, pieces in zip(WHOLES, PIECES) for p in pieces]
FIRSTS = [sum(map(len, PIECES[:i])) for i in range(len(PIECES))]
LINES = [dict(verdict="tx", backend="r4", out=list(range(at, at + len(pieces)))) for at, pieces in zip(FIRSTS, PIECES)]
WHOLE_ONES = [i for i, pieces in enumerate(PIECES) if len(pieces) == 1]
OUT_XDP = [frame for i in WHOLE_ONES for frame in OUT[FIRSTS[i] : FIRSTS[i] + 1]]
LINES_XDP = [
    tx("r4", WHOLE_ONES.index(i)) if i in WHOLE_ONES else drop("too_big") for i in range(len(WHOLES))
]
