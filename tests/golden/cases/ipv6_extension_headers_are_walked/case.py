# SPDX-License-Identifier: BSD-2-Clause
"""Hop-by-hop, destination and routing headers in front of TCP (RFC 8200)."""

from golden import *

HEADERS = IPv6ExtHdrHopByHop() / IPv6ExtHdrDestOpt() / IPv6ExtHdrRouting(addresses=["2001:db8::1"], segleft=0)
SYN = in6() / HEADERS / TCP(sport=40000, dport=80, flags="S")
IN = [SYN]
OUT = [outer4(inner(SYN), proto=41)]
LINES = [tx("b4")]
