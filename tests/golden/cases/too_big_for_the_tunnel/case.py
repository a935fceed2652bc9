# SPDX-License-Identifier: BSD-2-Clause
"""MTU 1500: 1480 bytes fit an IPv4 tunnel, 1460 an IPv6 one (packets.md, Encapsulation)."""

from icmp_words import *

def syn(dst, total):
    return in4(dst=dst, flags="DF") / TCP(sport=40000, dport=80, flags="A") / Raw(b"x" * (total - 40))


IN = [syn(VIP4, 1480), syn(VIP4, 1481), syn("203.0.113.20", 1460), syn("203.0.113.20", 1461)]
OUT = [outer4(inner(IN[0]), proto=4), too_big(IN[1], 1480), outer6(inner(IN[2]), nh=4), too_big(IN[3], 1460)]
LINES = [tx("b4", 0), reply(1), tx("b6", 2), reply(3)]
