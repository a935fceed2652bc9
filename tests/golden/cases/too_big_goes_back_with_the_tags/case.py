# SPDX-License-Identifier: BSD-2-Clause
"""VLAN tags and padding: tags go back, padding is not quoted."""

from icmp_words import *

MTU = 1280
FOUR = IP(src=CLIENT4, dst=VIP4, flags="DF") / TCP(sport=40000, dport=80, flags="A") / Raw(b"y" * 1221)
SIX = IPv6(src=CLIENT6, dst=VIP6) / TCP(sport=40000, dport=80, flags="A") / Raw(b"y" * 1221)
IN = [
    eth() / Dot1Q(vlan=9) / FOUR,
    eth() / Dot1AD(vlan=2) / Dot1Q(vlan=9) / FOUR,
    eth() / FOUR / Padding(b"z" * 9),
    eth() / Dot1Q(vlan=9) / SIX,
    eth() / Dot1AD(vlan=2) / Dot1Q(vlan=9) / SIX / Padding(b"z" * 9),
]
OUT = [too_big(frame, 1260) for frame in IN]
LINES = [reply(i) for i in range(5)]
