# SPDX-License-Identifier: BSD-2-Clause
"""After the last packet all timers run out."""

from golden import *

WHOLE = in4(id=77, flags=0) / UDP(sport=4000, dport=53) / Raw(DATA[:3000])
IN = cut4(WHOLE, 1200)[1:]
OUT = []
LINES = [EXPIRED, EXPIRED]
LINES_XDP = [EARLY, EARLY]
