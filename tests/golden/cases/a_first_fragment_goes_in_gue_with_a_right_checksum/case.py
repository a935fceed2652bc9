# SPDX-License-Identifier: BSD-2-Clause
"""A fragment is a packet like any other to the outer headers."""

from golden import *

PACKET = in4(dst="203.0.113.142", flags="MF", id=7) / UDP(sport=40000, dport=53, len=3000, chksum=0x5555) / Raw(b"y" * 993)
IN = [PACKET]
OUT = [gue6(PACKET, "fd82::141")]
LINES = [tx("g6")]
