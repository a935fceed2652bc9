# SPDX-License-Identifier: BSD-2-Clause
"""The inner IPv4 header checksum is not judged."""

from golden import *

SYN = in4(flags="DF", chksum=0x1234) / TCP(sport=40000, dport=80, flags="S")
IN = [SYN]
OUT = [outer4(inner(SYN), proto=4)]
LINES = [tx("b4")]
