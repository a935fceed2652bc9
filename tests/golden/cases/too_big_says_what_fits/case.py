# SPDX-License-Identifier: BSD-2-Clause
"""MTU 1500 less the outer headers: 1480 over IPv4, 1460 over IPv6, to clients of both families."""

from icmp_words import *

def big(vip, total, version=4):
    if version == 4:
        return in4(dst=vip, flags="DF", tos=0x28, id=5) / TCP(sport=40000, dport=80, flags="A") / Raw(b"x" * (total - 40))
    return in6(dst=vip, tc=0x28) / TCP(sport=40000, dport=80, flags="A") / Raw(b"x" * (total - 60))


IN = [big(VIP4, 1481), big("203.0.113.20", 1461), big(VIP6, 1481, 6), big("2001:db8:113::20", 1461, 6), big(VIP4, 1500)]
MTUS = [1480, 1460, 1480, 1460, 1480]
OUT = [too_big(frame, mtu) for frame, mtu in zip(IN, MTUS)]
LINES = [
    reply(0, service="web4", backend="b4"),
    reply(1, service="web6", backend="b6"),
    reply(2, service="web4", backend="b4"),
    reply(3, service="web6", backend="b6"),
    reply(4, service="web4", backend="b4"),
]
