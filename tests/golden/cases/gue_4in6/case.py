# SPDX-License-Identifier: BSD-2-Clause
"""IPv4 in GUE over IPv6: IP directly in UDP (GUE variant 1), checksum over the pseudo header and all."""

from golden import *

SYN = in4(dst="203.0.113.142", flags="DF") / TCP(sport=40000, dport=80, flags="S")
IN = [SYN]
OUT = [gue6(SYN, "fd82::141")]
LINES = [tx("g6", service="gue6")]
