# SPDX-License-Identifier: BSD-2-Clause
"""The answer comes from the service address though the hash does not know it."""

from icmp_words import *

BIG = in4(flags="DF") / TCP(sport=40000, dport=80, flags="A") / Raw(b"x" * 1460)
IN = [BIG, in4(dst="203.0.113.20", flags="DF") / TCP(sport=40000, dport=80, flags="A") / Raw(b"x" * 1460)]
OUT = [too_big(frame, 1480) for frame in IN]
LINES = [reply(0, service="source"), reply(1, service="both")]
