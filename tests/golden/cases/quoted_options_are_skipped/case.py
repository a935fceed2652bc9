# SPDX-License-Identifier: BSD-2-Clause
"""The ports stand behind the quoted options."""

from icmp_words import *

IN = [said4(from4(TCP(sport=80, dport=40000), options=[IPOption_NOP()] * count), length=28 + 4 * ((count + 3) // 4)) for count in (1, 4, 7, 40)]
OUT = [outer4(inner(frame), proto=4, tos=0) for frame in IN]
LINES = [tx("b4", i, service="web4") for i in range(4)]
