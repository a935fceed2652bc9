# SPDX-License-Identifier: BSD-2-Clause
"""1472 bytes go whole; the pieces share the flow's source port."""

from golden import *

ROOM = (1500 - 28 - 20) // 8 * 8
WHOLES = [in4(dst="203.0.113.141", id=77, flags=0) / UDP(sport=4000, dport=53) / Raw(DATA[: size - 28]) for size in (1472, 1473, 1500, 9000)]
PIECES = [cut4(whole, ROOM) if len(inner(whole)) > 1500 - 28 else [whole] for whole in WHOLES]
IN = WHOLES
OUT = [outer4(
        bytes(UDP(sport=gue_port(whole), dport=6080, len=8 + len(inner(p)), chksum=0)) + inner(p),
        proto=17, backend="10.82.0.141", flags=0, ident=77 ^ flow_hash(whole) & 0xFFFF) for whole, pieces in zip(WHOLES, PIECES) for p in pieces]
FIRSTS = [sum(map(len, PIECES[:i])) for i in range(len(PIECES))]
LINES = [dict(verdict="tx", backend="g4", out=list(range(at, at + len(pieces)))) for at, pieces in zip(FIRSTS, PIECES)]
WHOLE_ONES = [i for i, pieces in enumerate(PIECES) if len(pieces) == 1]
OUT_XDP = [frame for i in WHOLE_ONES for frame in OUT[FIRSTS[i] : FIRSTS[i] + 1]]
LINES_XDP = [
    tx("g4", WHOLE_ONES.index(i)) if i in WHOLE_ONES else drop("too_big") for i in range(len(WHOLES))
]
