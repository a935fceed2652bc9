# SPDX-License-Identifier: BSD-2-Clause
"""Fragments of 8,000 bytes."""

from golden import *

MTU = 9000
WHOLE = in4(id=77, flags=0) / UDP(sport=4000, dport=53) / Raw(DATA[:10000])
IN = cut4(WHOLE, 8000)
OUT = [ipip4(piece, WHOLE) for piece in IN]
LINES = [tx("b4", 0), tx("b4", 1)]
