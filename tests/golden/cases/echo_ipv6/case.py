# SPDX-License-Identifier: BSD-2-Clause
"""Echo requests to an IPv6 service address: every length, hop limit 64."""

from icmp_words import *

IN = [in6(hlim=3, tc=0x1c) / ICMPv6EchoRequest(id=9, seq=length, data=bytes(range(length))) for length in (0, 1, 2, 7, 56, 255)]
OUT = [answer(frame) for frame in IN]
LINES = [reply(i) for i in range(len(IN))]
