# SPDX-License-Identifier: BSD-2-Clause
"""Timestamp, echo reply, router and neighbour advertisement: nothing is sent."""

from icmp_words import *

IN = [
    in4() / ICMP(type=13),
    in4() / ICMP(type=0),
    in4() / ICMP(type=5, code=1) / Raw(bytes(28)),
    in4() / ICMP(type=255),
    in6() / ICMPv6EchoReply(),
    in6(hlim=255) / ICMPv6ND_NA(tgt=VIP6),
]
OUT = []
LINES = [drop("icmp_other")] * 6
