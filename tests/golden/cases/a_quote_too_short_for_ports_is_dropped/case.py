# SPDX-License-Identifier: BSD-2-Clause
"""No ports, no flow."""

from icmp_words import *

IN = [said4(from4(TCP(sport=80, dport=40000)), length=length) for length in (0, 1, 12, 19, 20, 21, 23)] + [
    said6(from6(TCP(sport=80, dport=40000)), length=length) for length in (0, 6, 39, 40, 43)
]
OUT = []
LINES = [drop("icmp_other")] * len(IN)
