# SPDX-License-Identifier: BSD-2-Clause
"""DPDK holds what comes too early, XDP cannot (documented difference)."""

from golden import *

WHOLE = in4(id=77, flags=0) / UDP(sport=4000, dport=53) / Raw(DATA[:2000])
FIRST, LATER = cut4(WHOLE, 1200)
IN = [LATER, FIRST]
OUT = [ipip4(FIRST, WHOLE), ipip4(LATER, WHOLE)]
LINES = [held("b4", 1), tx("b4", 0, held=False)]
OUT_XDP = OUT[:1]
LINES_XDP = [EARLY, tx("b4", 0)]
