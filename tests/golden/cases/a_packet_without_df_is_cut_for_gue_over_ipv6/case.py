# SPDX-License-Identifier: BSD-2-Clause
"""1452 bytes go whole; each piece has an outer checksum of its own."""

from golden import *

ROOM = (1500 - 48 - 20) // 8 * 8
WHOLES = [in4(dst="203.0.113.142", id=77, flags=0) / UDP(sport=4000, dport=53) / Raw(DATA[: size - 28]) for size in (1452, 1453, 1500, 9000)]
PIECES = [cut4(whole, ROOM) if len(inner(whole)) > 1500 - 48 else [whole] for whole in WHOLES]
IN = WHOLES
OUT = [Ether(**TO_BACKEND) / IPv6(src=LB6, dst="fd82::141", hlim=64) / UDP(sport=gue_port(whole), dport=6080) / Raw(inner(p)) for whole, pieces in zip(WHOLES, PIECES) for p in pieces]
FIRSTS = [sum(map(len, PIECES[:i])) for i in range(len(PIECES))]
LINES = [dict(verdict="tx", backend="g6", out=list(range(at, at + len(pieces)))) for at, pieces in zip(FIRSTS, PIECES)]
WHOLE_ONES = [i for i, pieces in enumerate(PIECES) if len(pieces) == 1]
OUT_XDP = [frame for i in WHOLE_ONES for frame in OUT[FIRSTS[i] : FIRSTS[i] + 1]]
LINES_XDP = [
    tx("g6", WHOLE_ONES.index(i)) if i in WHOLE_ONES else drop("too_big") for i in range(len(WHOLES))
]
