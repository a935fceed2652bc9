# SPDX-License-Identifier: BSD-2-Clause
"""A duplicate goes the way of its original."""

from golden import *

WHOLE = in4(id=77, flags=0) / UDP(sport=4000, dport=53) / Raw(DATA[:2000])
FIRST, LATER = cut4(WHOLE, 1200)
IN = [FIRST, FIRST, LATER, LATER]
OUT = [ipip4(piece, WHOLE) for piece in IN]
LINES = [tx("b4", i) for i in range(4)]
