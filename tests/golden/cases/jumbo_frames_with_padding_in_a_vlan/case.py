# SPDX-License-Identifier: BSD-2-Clause
"""Cut to the packet's length, tags off, across buffers."""

from golden import *

MTU = 9000
PACKET = in4(id=77, flags=0) / UDP(sport=4000, dport=53) / Raw(DATA[:5000])
IN = [Ether(bytes(eth() / Dot1Q(vlan=5) / fixed(PACKET)[IP]) + bytes(pad)) for pad in (0, 1, 60, 1400)]
OUT = [ipip4(PACKET, PACKET)] * 4
LINES = [tx("b4", i) for i in range(4)]
