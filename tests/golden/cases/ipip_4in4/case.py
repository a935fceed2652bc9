# SPDX-License-Identifier: BSD-2-Clause
"""IPv4 in IPv4: outer DF as inside, id 0 with DF, TTL 64 (packets.md, Encapsulation)."""

from golden import *

SYN = in4(flags="DF", id=4242, ttl=17) / TCP(sport=40000, dport=80, flags="S", seq=7)
IN = [SYN]
OUT = [outer4(inner(SYN), proto=4)]
LINES = [tx("b4", service="web4")]
