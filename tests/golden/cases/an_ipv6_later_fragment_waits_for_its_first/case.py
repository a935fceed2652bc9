# SPDX-License-Identifier: BSD-2-Clause
"""The same for IPv6."""

from golden import *

WHOLE = in6() / IPv6ExtHdrFragment(id=0x10000001) / UDP(sport=4000, dport=53) / Raw(DATA[:2000])
FIRST, LATER = cut6(WHOLE, 1280)
IN = [LATER, FIRST]
OUT = [outer4(inner(FIRST), proto=41), outer4(inner(LATER), proto=41)]
LINES = [held("b4", 1), tx("b4", 0)]
OUT_XDP = OUT[:1]
LINES_XDP = [EARLY, tx("b4", 0)]
