# SPDX-License-Identifier: BSD-2-Clause
"""RFC 6040: the outer DSCP and ECN are the inner ones, for every ECN code point."""

from golden import *

IN4 = [in4(flags="DF", tos=0xB8 | ecn) / TCP(sport=40000 + ecn, dport=80, flags="S") for ecn in range(4)]
IN6 = [in6(dst="2001:db8:113::20", tc=0x28 | ecn) / TCP(sport=40000 + ecn, dport=80, flags="S") for ecn in range(4)]
IN = IN4 + IN6
OUT = [outer4(inner(p), proto=4, tos=0xB8 | ecn) for ecn, p in enumerate(IN4)] + [
    outer6(inner(p), nh=41, tc=0x28 | ecn) for ecn, p in enumerate(IN6)
]
LINES = [tx("b4", i) for i in range(4)] + [tx("b6", i + 4) for i in range(4)]
