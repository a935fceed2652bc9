# SPDX-License-Identifier: BSD-2-Clause
"""There is nobody to tell."""

from icmp_words import *

IN = [said4(from4(TCP(sport=80, dport=40000), src="203.0.113.50"), dst="203.0.113.50")]
OUT = []
LINES = [drop("no_backend", service="empty")]
