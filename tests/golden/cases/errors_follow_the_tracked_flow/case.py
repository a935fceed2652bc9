# SPDX-License-Identifier: BSD-2-Clause
"""It says so: no slot was asked for; and it leaves the flow as it was."""

from icmp_words import *

VIP = "203.0.113.40"
SYN = in4(dst=VIP, flags="DF") / TCP(sport=42000, dport=80, flags="S")
ERROR = said4(from4(TCP(sport=80, dport=42000), src=VIP), dst=VIP)
# NEW for 10 seconds from the SYN on; the errors in between do not keep it.
IN = [(1000, SYN), (1004, ERROR), (1009, ERROR), (1013, ERROR), (1014, SYN)]
LINES = [dict(verdict="tx", service="many")] * len(IN)


def check(lines, frames):
    assert ["slot" in line for line in lines] == [True, False, False, True, True]
    assert len({line["backend"] for line in lines}) == 1
