# SPDX-License-Identifier: BSD-2-Clause
"""IPv6 in GRE over IPv6: four bytes of header, no checksum, key or sequence number (RFC 2784)."""

from golden import *

SYN = in6(dst="2001:db8:113::145") / TCP(sport=40000, dport=80, flags="S")
IN = [SYN]
OUT = [outer6(gre(SYN), nh=47, backend="fd82::143")]
LINES = [tx("r6", service="gre6")]
