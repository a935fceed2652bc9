# SPDX-License-Identifier: BSD-2-Clause
"""Every fragment of an IPv6 datagram goes where its first one went."""

from golden import *

WHOLE = in6() / IPv6ExtHdrFragment(id=77) / UDP(sport=4000, dport=53) / Raw(DATA[:3000])
IN = cut6(WHOLE, 1280)
OUT = [outer4(inner(piece), proto=41) for piece in IN]
LINES = [tx("b4", i, held=False, service="dns") for i in range(3)]
