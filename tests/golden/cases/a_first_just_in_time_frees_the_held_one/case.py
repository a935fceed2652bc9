# SPDX-License-Identifier: BSD-2-Clause
"""Held at 0, let go at 1.999 s."""

from golden import *

WHOLE = in4(id=77, flags=0) / UDP(sport=4000, dport=53) / Raw(DATA[:2000])
FIRST, LATER = cut4(WHOLE, 1200)
IN = [(1000, LATER), (1001.999, FIRST)]
LINES = [held("b4", 1), tx("b4", 0)]
LINES_XDP = [EARLY, tx("b4", 0)]
