# SPDX-License-Identifier: BSD-2-Clause
"""timeouts.fragment is 2 s unless the file says more: known at 1.9 s, not at 2 s."""

from golden import *

WHOLE = in4(id=77, flags=0) / UDP(sport=4000, dport=53) / Raw(DATA[:2000])
FIRST, LATER = cut4(WHOLE, 1200)
IN = [(1000, FIRST), (1001.9, LATER), (1002, LATER)]
LINES = [tx("b4", 0), tx("b4", 1), EXPIRED]
LINES_XDP = [tx("b4", 0), tx("b4", 1), EARLY]
