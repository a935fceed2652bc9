# SPDX-License-Identifier: BSD-2-Clause
"""l2 changes the two MACs and nothing else; the backend's family is only how it is found."""

from golden import *

SYN = in4(dst="203.0.113.146", ttl=17) / TCP(sport=40000, dport=80, flags="S")
IN = [SYN]
OUT = [l2(SYN)]
LINES = [tx("l4", service="l24")]
