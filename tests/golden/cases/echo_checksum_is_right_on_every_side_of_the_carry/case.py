# SPDX-License-Identifier: BSD-2-Clause
"""Payloads that bring the checksum through 0, 0xf7ff, 0xf800 and their neighbours."""

from icmp_words import *

WORDS = [word & 0xFFFF for base in (0, 0x0800, 0x7FFF, 0x8000, 0xF7FF, 0xF800) for word in range(base - 3, base + 4)]
IN = [in4() / ICMP(id=0, seq=0) / Raw(word.to_bytes(2, "big")) for word in WORDS] + [
    in6() / ICMPv6EchoRequest(id=0, seq=0, data=word.to_bytes(2, "big")) for word in WORDS
]
OUT = [answer(frame) for frame in IN]
LINES = [reply(i) for i in range(len(IN))]
