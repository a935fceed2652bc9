# SPDX-License-Identifier: BSD-2-Clause
"""Ports are read after the options; the packet goes on with them."""

from golden import *

OPTIONS = [IPOption_NOP(), IPOption_NOP(), IPOption_NOP(), IPOption_NOP()]
SYN = in4(flags="DF", options=OPTIONS) / TCP(sport=40000, dport=80, flags="S")
LONGEST = in4(flags="DF", options=[IPOption_NOP()] * 40) / TCP(sport=40000, dport=80, flags="S")
IN = [SYN, LONGEST]
OUT = [outer4(inner(SYN), proto=4), outer4(inner(LONGEST), proto=4)]
LINES = [tx("b4", 0), tx("b4", 1)]
