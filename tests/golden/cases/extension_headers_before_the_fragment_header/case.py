# SPDX-License-Identifier: BSD-2-Clause
"""The part that is not fragmented is walked in every fragment."""

from golden import *

WHOLE = in6() / IPv6ExtHdrHopByHop(options=[PadN(optdata=bytes(4))]) / IPv6ExtHdrDestOpt(options=[PadN(optdata=bytes(12))]) / IPv6ExtHdrFragment(id=77) / UDP(sport=4000, dport=53) / Raw(DATA[:2000])
IN = cut6(WHOLE, 1280)
OUT = [outer4(inner(piece), proto=41) for piece in IN]
LINES = [tx("b4", i) for i in range(len(IN))]
