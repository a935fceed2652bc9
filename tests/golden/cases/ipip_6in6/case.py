# SPDX-License-Identifier: BSD-2-Clause
"""IPv6 in IPv6: next header 41."""

from golden import *

SYN = in6(dst="2001:db8:113::20") / TCP(sport=40000, dport=80, flags="S")
IN = [SYN]
OUT = [outer6(inner(SYN), nh=41)]
LINES = [tx("b6", service="web6")]
