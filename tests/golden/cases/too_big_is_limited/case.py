# SPDX-License-Identifier: BSD-2-Clause
"""1000 a second, 100 at once for the node; a second later there are 100 again."""

from icmp_words import *

BIG = in4(flags="DF") / TCP(sport=40000, dport=80, flags="A") / Raw(b"x" * 1460)
BIG6 = in6() / TCP(sport=40000, dport=80, flags="A") / Raw(b"x" * 1440)
IN = [(1000, BIG)] * 75 + [(1000, BIG6)] * 75 + [(1000.0105, BIG)] * 15 + [(1001.5, BIG)] * 101
OUT = [too_big(BIG, 1480)] * 75 + [too_big(BIG6, 1480)] * 25 + [too_big(BIG, 1480)] * 10 + [too_big(BIG, 1480)] * 100
LINES = (
    [reply(i) for i in range(100)]
    + [drop("ptb_limited")] * 50
    + [reply(100 + i) for i in range(10)]
    + [drop("ptb_limited")] * 5
    + [reply(110 + i) for i in range(100)]
    + [drop("ptb_limited")]
)
