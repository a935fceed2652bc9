# SPDX-License-Identifier: BSD-2-Clause
"""IPv6 in GRE over IPv4: four bytes of header, no checksum, key or sequence number (RFC 2784)."""

from golden import *

SYN = in6(dst="2001:db8:113::144") / TCP(sport=40000, dport=80, flags="S")
IN = [SYN]
OUT = [outer4(gre(SYN), proto=47, backend="10.82.0.143")]
LINES = [tx("r4", service="gre4")]
