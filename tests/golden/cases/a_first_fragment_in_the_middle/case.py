# SPDX-License-Identifier: BSD-2-Clause
"""One later fragment before it, one behind."""

from golden import *

WHOLE = in4(id=77, flags=0) / UDP(sport=4000, dport=53) / Raw(DATA[:3000])
FIRST, MIDDLE, LAST = cut4(WHOLE, 1200)
IN = [LAST, FIRST, MIDDLE]
OUT = [ipip4(piece, WHOLE) for piece in (FIRST, LAST, MIDDLE)]
LINES = [held("b4", 1), tx("b4", 0), tx("b4", 2, held=False)]
OUT_XDP = [OUT[0], OUT[2]]
LINES_XDP = [EARLY, tx("b4", 0), tx("b4", 1)]
