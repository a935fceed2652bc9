# SPDX-License-Identifier: BSD-2-Clause
"""The error is wrapped like any packet of its service."""

from icmp_words import *

IN = [said4(from4(TCP(sport=80, dport=40000), src="203.0.113.20"), dst="203.0.113.20"), said6(from6(TCP(sport=80, dport=40000), src="2001:db8:113::20"), dst="2001:db8:113::20")]
OUT = [outer6(inner(frame), nh=4 if IPv6 not in frame else 41) for frame in IN]
LINES = [tx("b6", i, service="web6") for i in range(2)]
