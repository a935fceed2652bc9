# SPDX-License-Identifier: BSD-2-Clause
"""Less than 1280 bytes are quoted whole, odd lengths too; a path of 600 bytes makes such packets too big."""

from icmp_words import *

SENT = IP(src=LB4, dst=B4, flags="DF", proto=4) / Raw(bytes(40))
TOLD = eth() / IP(src="10.82.0.1", dst=LB4) / ICMP(type=3, code=4, nexthopmtu=600) / Raw(bytes(SENT)[:28])
BIG = [in6() / UDP(sport=9, dport=53) / Raw(b"q" * size) for size in (533, 534, 1183, 1184, 1185)]
IN = [TOLD, *BIG]
OUT = [too_big(frame, 580) for frame in BIG]
LINES = [dict(verdict="consumed")] + [reply(i, service="dns") for i in range(5)]
