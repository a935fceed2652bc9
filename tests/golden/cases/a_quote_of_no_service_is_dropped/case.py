# SPDX-License-Identifier: BSD-2-Clause
"""Nobody serves the quoted port or protocol; no service speaks ICMP."""

from icmp_words import *

IN = [said4(from4(TCP(sport=81, dport=40000))), said4(from4(Raw(bytes(8)), proto=47)), said4(from4(ICMP(type=0))), said6(from6(UDP(sport=80, dport=9)))]
OUT = []
LINES = [drop("icmp_other")] * len(IN)
