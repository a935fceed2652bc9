# SPDX-License-Identifier: BSD-2-Clause
"""Behind the first one, last before middle if they came so."""

from golden import *

WHOLE = in4(id=77, flags=0) / UDP(sport=4000, dport=53) / Raw(DATA[:3000])
FIRST, MIDDLE, LAST = cut4(WHOLE, 1200)
IN = [LAST, MIDDLE, FIRST]
OUT = [ipip4(piece, WHOLE) for piece in (FIRST, LAST, MIDDLE)]
LINES = [held("b4", 1), held("b4", 2), tx("b4", 0)]
OUT_XDP = OUT[:1]
LINES_XDP = [EARLY, EARLY, tx("b4", 0)]
