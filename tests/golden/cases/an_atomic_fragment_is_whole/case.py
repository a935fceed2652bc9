# SPDX-License-Identifier: BSD-2-Clause
"""IPv6 fragment header with offset 0 and no MF (RFC 6946)."""

from golden import *

SYN = in6() / IPv6ExtHdrFragment(id=5) / TCP(sport=40000, dport=80, flags="S")
IN = [SYN]
OUT = [outer4(inner(SYN), proto=41)]
LINES = [tx("b4")]
