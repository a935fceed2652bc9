# SPDX-License-Identifier: BSD-2-Clause
"""Its first comes too late for it, but in time for the next one."""

from golden import *

WHOLE = in4(id=77, flags=0) / UDP(sport=4000, dport=53) / Raw(DATA[:2000])
FIRST, LATER = cut4(WHOLE, 1200)
IN = [(1000, LATER), (1002.5, FIRST), (1002.6, LATER)]
OUT = [ipip4(FIRST, WHOLE), ipip4(LATER, WHOLE)]
LINES = [EXPIRED, tx("b4", 0), tx("b4", 1, held=False)]
LINES_XDP = [EARLY, tx("b4", 0), tx("b4", 1)]
