# SPDX-License-Identifier: BSD-2-Clause
"""ICMPv6 packet too big about an outer IPv6 packet."""

from icmp_words import *

BIG = in6(dst="2001:db8:113::20") / TCP(sport=40000, dport=80, flags="A") / Raw(b"x" * 1340)
SENT = IPv6(src=LB6, dst=B6, nh=41) / IPv6(bytes(BIG[IPv6]))
TOLD = eth() / IPv6(src="fd82::1", dst=LB6) / ICMPv6PacketTooBig(mtu=1420) / Raw(bytes(SENT)[:1232])
IN = [BIG, TOLD, BIG]
OUT = [outer6(inner(BIG), nh=41), too_big(BIG, 1380)]
LINES = [tx("b6", 0), dict(verdict="consumed", out=[]), reply(1)]
