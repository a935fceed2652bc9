# SPDX-License-Identifier: BSD-2-Clause
"""Echo requests to an IPv4 service address are answered: every length, TTL 64, right checksums."""

from icmp_words import *

IN = [in4(ttl=7, id=77) / ICMP(id=9, seq=length) / Raw(bytes(range(length))) for length in (0, 1, 2, 7, 56, 255)]
OUT = [answer(frame) for frame in IN]
LINES = [reply(i) for i in range(len(IN))]
