# SPDX-License-Identifier: BSD-2-Clause
"""Hop-by-hop, destination and atomic fragment headers stay; a routing header that is not at its end does not."""

from icmp_words import *

HEADERS = [IPv6ExtHdrHopByHop(), IPv6ExtHdrDestOpt(), IPv6ExtHdrFragment(id=7), IPv6ExtHdrHopByHop() / IPv6ExtHdrDestOpt()]
ECHO = ICMPv6EchoRequest(id=3, data=b"behind")
IN = [in6() / header / ECHO for header in HEADERS] + [in6() / IPv6ExtHdrRouting(type=2, segleft=1, addresses=["::1"]) / ECHO]
OUT = [answer(frame) for frame in IN[:4]]
LINES = [reply(i) for i in range(4)] + [drop("icmp_other")]
