# SPDX-License-Identifier: BSD-2-Clause
"""Types 3, 4, 11 and 12 about a packet of the service; IP header and 8 bytes are enough."""

from icmp_words import *

IN = [said4(from4(TCP(sport=80, dport=40000)), type=kind, code=code) for kind, code in ((3, 0), (3, 1), (3, 3), (3, 4), (3, 13), (4, 0), (11, 0), (11, 1), (12, 0))]
OUT = [outer4(inner(frame), proto=4, tos=0) for frame in IN]
LINES = [tx("b4", i, service="web4") for i in range(9)]
