# SPDX-License-Identifier: BSD-2-Clause
"""The quoted source is not the service address."""

from icmp_words import *

IN = [said4(from4(TCP(sport=80, dport=40000), src="203.0.113.11")), said6(from6(TCP(sport=80, dport=40000), src="2001:db8:113::11"))]
OUT = []
LINES = [drop("icmp_other")] * len(IN)
