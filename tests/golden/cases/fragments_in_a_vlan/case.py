# SPDX-License-Identifier: BSD-2-Clause
"""Tags are no part of the datagram's name: the later one may even have lost its tag."""

from golden import *

WHOLE = in4(id=77, flags=0) / UDP(sport=4000, dport=53) / Raw(DATA[:3000])
A, B, C = (piece[IP] for piece in cut4(WHOLE, 1200))
IN = [eth() / Dot1Q(vlan=5) / A, eth() / Dot1AD(vlan=7) / Dot1Q(vlan=5) / B, eth() / C]
OUT = [ipip4(piece, WHOLE) for piece in cut4(WHOLE, 1200)]
LINES = [tx("b4", i) for i in range(3)]
