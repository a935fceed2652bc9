# SPDX-License-Identifier: BSD-2-Clause
"""GUE over IPv6 around IPv4 UDP with checksum 0: the inner zero is just a zero."""

from golden import *

PACKET = in4(dst="203.0.113.142", flags="DF") / UDP(sport=40000, dport=53, chksum=0) / Raw(b"odd")
IN = [PACKET]
OUT = [gue6(PACKET, "fd82::141")]
LINES = [tx("g6")]
