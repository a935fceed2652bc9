# SPDX-License-Identifier: BSD-2-Clause
"""The answer is as long as its IP packet, not as the frame."""

from icmp_words import *

IN = [in4() / ICMP(id=1) / Raw(b"abc") / Padding(bytes(18)), in6() / ICMPv6EchoRequest(data=b"abc") / Padding(b"xyz")]
OUT = [answer(frame) for frame in IN]
LINES = [reply(i) for i in range(len(IN))]
