# SPDX-License-Identifier: BSD-2-Clause
"""l2 changes the two MACs and nothing else; the backend's family is only how it is found."""

from golden import *

SYN = in4(dst="203.0.113.147", ttl=17) / TCP(sport=40000, dport=80, flags="S")
IN = [SYN]
OUT = [l2(SYN)]
LINES = [tx("l6", service="l26")]
