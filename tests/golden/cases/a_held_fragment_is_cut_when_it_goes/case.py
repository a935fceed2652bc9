# SPDX-License-Identifier: BSD-2-Clause
"""Held, let go, and too big all the same."""

from golden import *

WHOLE = in4(id=77, flags=0) / UDP(sport=4000, dport=53) / Raw(DATA[:3480])
FIRST, LATER = cut4(WHOLE, 2000)
IN = [LATER, FIRST]
CUT = {name: [eth() / p for p in fragment(fixed(frame)[IP], 1456)] for name, frame in (("first", FIRST), ("later", LATER))}
OUT = [ipip4(p, WHOLE) for p in CUT["first"] + CUT["later"]]
LINES = [dict(verdict="tx", held=True, out=[2, 3]), dict(verdict="tx", held=False, out=[0, 1])]
OUT_XDP = []
LINES_XDP = [EARLY, drop("too_big")]
