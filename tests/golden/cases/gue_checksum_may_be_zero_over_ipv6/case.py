# SPDX-License-Identifier: BSD-2-Clause
"""gue_checksum: false sends 0 (RFC 6935); gue_port names the port."""

from golden import *

SYN4 = in4(dst="203.0.113.143", flags="DF") / TCP(sport=40000, dport=80, flags="S")
SYN6 = in6(dst="2001:db8:113::143") / TCP(sport=40000, dport=80, flags="S")
IN = [SYN4, SYN6]
OUT = [gue6(SYN4, "fd82::142", dport=5555, chksum=0), gue6(SYN6, "fd82::142", dport=5555, chksum=0)]
LINES = [tx("g0", 0), tx("g0", 1)]
