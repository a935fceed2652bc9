# SPDX-License-Identifier: BSD-2-Clause
"""timeouts.fragment: 500ms, for decisions and for held ones."""

from golden import *

WHOLE = in4(id=77, flags=0) / UDP(sport=4000, dport=53) / Raw(DATA[:2000])
FIRST, LATER = cut4(WHOLE, 1200)
IN = [(1000, FIRST), (1000.499, LATER), (1000.5, LATER), (1001.1, FIRST)]
LINES = [tx("b4", 0), tx("b4", 1), EXPIRED, tx("b4", 2)]
LINES_XDP = [tx("b4", 0), tx("b4", 1), EARLY, tx("b4", 2)]
