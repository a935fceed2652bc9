# SPDX-License-Identifier: BSD-2-Clause
"""MF without an offset."""

from icmp_words import *

IN = [said4(from4(TCP(sport=80, dport=40000), flags="MF", id=3)), said6(from6(IPv6ExtHdrFragment(m=1, id=3) / TCP(sport=80, dport=40000)), length=56)]
OUT = [outer4(inner(frame), proto=4 if IPv6 not in frame else 41) for frame in IN]
LINES = [tx("b4", i, service="web4") for i in range(2)]
