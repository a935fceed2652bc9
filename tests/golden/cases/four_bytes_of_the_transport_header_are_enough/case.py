# SPDX-License-Identifier: BSD-2-Clause
"""Both ports, and no more."""

from icmp_words import *

IN = [said4(from4(TCP(sport=80, dport=40000)), length=24), said6(from6(TCP(sport=80, dport=40000)), length=44)]
OUT = [outer4(inner(frame), proto=4 if IPv6 not in frame else 41) for frame in IN]
LINES = [tx("b4", i, service="web4") for i in range(2)]
