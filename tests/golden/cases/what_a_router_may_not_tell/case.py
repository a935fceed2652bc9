# SPDX-License-Identifier: BSD-2-Clause
"""No less than 576 or 1280, no more than the link has, nothing old, nothing about what we do not send: all the host's."""

from icmp_words import *

def told(mtu=1400, src=LB4, dst=B4, proto=4, to=LB4, code=4, **fields):
    sent = IP(src=src, dst=dst, flags="DF", proto=proto, **fields) / Raw(bytes(40))
    return eth() / IP(src="10.82.0.1", dst=to) / ICMP(type=3, code=code, nexthopmtu=mtu) / Raw(bytes(sent)[:28])


def told6(mtu, dst=B6):
    return eth() / IPv6(src="fd82::1", dst=LB6) / ICMPv6PacketTooBig(mtu=mtu) / Raw(bytes(IPv6(src=LB6, dst=dst, nh=4) / Raw(bytes(40))))


BAD_SUM = eth() / IP(src="10.82.0.1", dst=LB4) / ICMP(type=3, code=4, nexthopmtu=1400, chksum=1) / Raw(
    bytes(IP(src=LB4, dst=B4, proto=4) / Raw(bytes(40)))[:28]
)
BIG = in4(flags="DF") / TCP(sport=40000, dport=80, flags="A") / Raw(b"x" * 1440)
IN = [
    told(mtu=0),
    told(mtu=575),
    told(mtu=1500),
    told(mtu=9000),
    told(src="10.82.0.12"),
    told(dst="10.82.0.99"),
    told(proto=6),
    told(proto=17),
    told(proto=47),
    told(code=3),
    told(to="10.82.0.12", src="10.82.0.12"),
    told(frag=10),
    told6(1279),
    told6(1500),
    told6(1400, dst="fd82::99"),
    BAD_SUM,
    BIG,
]
OUT = [outer4(inner(BIG), proto=4)]
LINES = [HOST] * 16 + [tx("b4", 0)]
