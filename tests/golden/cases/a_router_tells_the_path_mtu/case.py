# SPDX-License-Identifier: BSD-2-Clause
"""Believed for ten minutes; clients are told what then fits."""

from icmp_words import *

BIG = in4(flags="DF") / TCP(sport=40000, dport=80, flags="A") / Raw(b"x" * 1400)
BIG6 = in6() / TCP(sport=40000, dport=80, flags="A") / Raw(b"x" * 1380)
SENT = IP(src=LB4, dst=B4, flags="DF", proto=4) / IP(bytes(BIG[IP]))
TOLD = eth() / IP(src="10.82.0.1", dst=LB4) / ICMP(type=3, code=4, nexthopmtu=1400) / Raw(bytes(SENT)[:28])
IN = [(1000, BIG), (1001, TOLD), (1002, BIG), (1003, BIG6), (1600, BIG), (1602, BIG), (1602, BIG6)]
OUT = [outer4(inner(BIG), proto=4), too_big(BIG, 1380), too_big(BIG6, 1380), too_big(BIG, 1380),
       outer4(inner(BIG), proto=4), outer4(inner(BIG6), proto=41)]
LINES = [tx("b4", 0), dict(verdict="consumed", out=[]), reply(1), reply(2), reply(3), tx("b4", 4), tx("b4", 5)]
