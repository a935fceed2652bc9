# SPDX-License-Identifier: BSD-2-Clause
"""As they are, in frames of our own."""

from golden import *

WHOLE = in4(dst="203.0.113.146", id=77, flags=0) / UDP(sport=4000, dport=53) / Raw(DATA[:2000])
IN = cut4(WHOLE, 1200)
OUT = [l2(piece) for piece in IN]
LINES = [tx("l4", 0), tx("l4", 1)]
