# SPDX-License-Identifier: BSD-2-Clause
"""The ports stand behind the quoted extension headers."""

from icmp_words import *

CHAINS = [
    IPv6ExtHdrHopByHop(),
    IPv6ExtHdrDestOpt(options=[PadN(optdata=bytes(20))]),
    IPv6ExtHdrFragment(id=1),
    IPv6ExtHdrHopByHop() / IPv6ExtHdrRouting() / IPv6ExtHdrDestOpt(),
]
IN = [said6(from6(chain / TCP(sport=80, dport=40000)), length=40 + len(chain) + 8) for chain in CHAINS]
OUT = [outer4(inner(frame), proto=41) for frame in IN]
LINES = [tx("b4", i, service="web4") for i in range(4)]
