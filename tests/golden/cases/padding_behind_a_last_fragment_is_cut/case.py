# SPDX-License-Identifier: BSD-2-Clause
"""Four bytes of payload in a frame of 60: the outer length is the packet's."""

from golden import *

WHOLE = in4(id=77, flags=0) / UDP(sport=4000, dport=53) / Raw(DATA[:36])
FIRST, LATER = cut4(WHOLE, 40)
IN = [FIRST, fixed(LATER) / Padding(bytes(22))]
OUT = [ipip4(FIRST, WHOLE), ipip4(LATER, WHOLE)]
LINES = [tx("b4", 0), tx("b4", 1)]
