# SPDX-License-Identifier: BSD-2-Clause
"""Only the first fragment has them; what names the datagram is the fragment header."""

from golden import *

WHOLE = in6() / IPv6ExtHdrFragment(id=77, nh=60) / IPv6ExtHdrDestOpt(options=[PadN(optdata=bytes(4))]) / UDP(sport=4000, dport=53) / Raw(DATA[:2000])
IN = cut6(WHOLE, 1280)
OUT = [outer4(inner(piece), proto=41) for piece in IN]
LINES = [tx("b4", i, service="dns") for i in range(len(IN))]
