# SPDX-License-Identifier: BSD-2-Clause
"""A later, larger word changes nothing; a smaller one does."""

from icmp_words import *

def told(mtu):
    sent = IP(src=LB4, dst=B4, flags="DF", proto=4) / Raw(bytes(40))
    return eth() / IP(src="10.82.0.1", dst=LB4) / ICMP(type=3, code=4, nexthopmtu=mtu) / Raw(bytes(sent)[:28])


BIG = in4(flags="DF") / TCP(sport=40000, dport=80, flags="A") / Raw(b"x" * 1440)
SEEN = dict(verdict="consumed", out=[])
IN = [told(1400), told(1450), BIG, told(1300), BIG, told(1300)]
OUT = [too_big(BIG, 1380), too_big(BIG, 1280)]
LINES = [SEEN, HOST, reply(0), SEEN, reply(1), SEEN]
