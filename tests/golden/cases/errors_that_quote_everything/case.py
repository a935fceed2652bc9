# SPDX-License-Identifier: BSD-2-Clause
"""A long quote is delivered whole."""

from icmp_words import *

IN = [said4(from4(TCP(sport=80, dport=40000) / Raw(bytes(500))), length=540), said6(from6(TCP(sport=80, dport=40000) / Raw(bytes(1200))), length=1200)]
OUT = [outer4(inner(frame), proto=4 if IPv6 not in frame else 41) for frame in IN]
LINES = [tx("b4", i, service="web4") for i in range(2)]
