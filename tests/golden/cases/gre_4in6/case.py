# SPDX-License-Identifier: BSD-2-Clause
"""IPv4 in GRE over IPv6: four bytes of header, no checksum, key or sequence number (RFC 2784)."""

from golden import *

SYN = in4(dst="203.0.113.145", flags="DF") / TCP(sport=40000, dport=80, flags="S")
IN = [SYN]
OUT = [outer6(gre(SYN), nh=47, backend="fd82::143")]
LINES = [tx("r6", service="gre6")]
