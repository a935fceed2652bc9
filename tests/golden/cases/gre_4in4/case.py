# SPDX-License-Identifier: BSD-2-Clause
"""IPv4 in GRE over IPv4: four bytes of header, no checksum, key or sequence number (RFC 2784)."""

from golden import *

SYN = in4(dst="203.0.113.144", flags="DF") / TCP(sport=40000, dport=80, flags="S")
IN = [SYN]
OUT = [outer4(gre(SYN), proto=47, backend="10.82.0.143")]
LINES = [tx("r4", service="gre4")]
