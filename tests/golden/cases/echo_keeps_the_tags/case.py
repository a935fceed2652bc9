# SPDX-License-Identifier: BSD-2-Clause
"""VLAN tags go back as they came."""

from icmp_words import *

TAGS = [Dot1Q(vlan=7, prio=3), Dot1AD(vlan=100) / Dot1Q(vlan=7)]
IN = [eth() / tags / IP(src=CLIENT4, dst=VIP4) / ICMP(id=4) / Raw(b"tagged") for tags in TAGS] + [
    eth() / tags / IPv6(src=CLIENT6, dst=VIP6) / ICMPv6EchoRequest(data=b"tagged") for tags in TAGS
]
OUT = [answer(frame) for frame in IN]
LINES = [reply(i) for i in range(len(IN))]
