# SPDX-License-Identifier: BSD-2-Clause
"""--mtu 2000."""

from icmp_words import *

MTU = 2000
BIG = in4(flags="DF") / TCP(sport=40000, dport=80, flags="A") / Raw(b"x" * 1940)
BIGGER = in4(flags="DF") / TCP(sport=40000, dport=80, flags="A") / Raw(b"x" * 1941)
IN = [BIG, BIGGER]
OUT = [outer4(inner(BIG), proto=4), too_big(BIGGER, 1980)]
LINES = [tx("b4"), reply(1, service="web4", backend="b4")]
