# SPDX-License-Identifier: BSD-2-Clause
"""IPv6 in IPv4: protocol 41, DF set because IPv6 inside is never fragmented on the way."""

from golden import *

SYN = in6(hlim=9) / TCP(sport=40000, dport=80, flags="S")
IN = [SYN]
OUT = [outer4(inner(SYN), proto=41)]
LINES = [tx("b4", service="web4")]
