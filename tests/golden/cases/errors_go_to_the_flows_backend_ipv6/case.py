# SPDX-License-Identifier: BSD-2-Clause
"""ICMPv6 types 1 to 4."""

from icmp_words import *

IN = [said6(from6(TCP(sport=80, dport=40000)), kind) for kind in (ICMPv6DestUnreach, ICMPv6PacketTooBig, ICMPv6TimeExceeded, ICMPv6ParamProblem)]
OUT = [outer4(inner(frame), proto=41) for frame in IN]
LINES = [tx("b4", i, service="web4") for i in range(4)]
