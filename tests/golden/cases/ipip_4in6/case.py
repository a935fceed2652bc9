# SPDX-License-Identifier: BSD-2-Clause
"""IPv4 in IPv6: next header 4, flow label 0 without entropy."""

from golden import *

SYN = in4(dst="203.0.113.20") / TCP(sport=40000, dport=80, flags="S")
IN = [SYN]
OUT = [outer6(inner(SYN), nh=4)]
LINES = [tx("b6", service="web6")]
