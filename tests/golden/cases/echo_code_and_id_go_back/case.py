# SPDX-License-Identifier: BSD-2-Clause
"""Whatever the code, id and sequence are."""

from icmp_words import *

IN = [in4() / ICMP(code=5, id=0xFFFF, seq=0xFFFF) / Raw(b"x"), in4() / ICMP(code=0, id=0, seq=1)]
OUT = [answer(frame) for frame in IN]
LINES = [reply(i) for i in range(len(IN))]
