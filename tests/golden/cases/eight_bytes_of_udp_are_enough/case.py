# SPDX-License-Identifier: BSD-2-Clause
"""The smallest first fragment holds a whole UDP header."""

from golden import *

WHOLE = in4(id=77, flags=0) / UDP(sport=4000, dport=53) / Raw(DATA[:20])
IN = cut4(WHOLE, 8)
OUT = [ipip4(piece, WHOLE) for piece in IN]
LINES = [tx("b4", i) for i in range(4)]
