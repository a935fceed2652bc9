# SPDX-License-Identifier: BSD-2-Clause
"""A SYN after the error is the first packet of its flow."""

from icmp_words import *

VIP = "203.0.113.40"
ERROR = said4(from4(UDP(sport=7, dport=42000), src=VIP), dst=VIP)
IN = [ERROR, ERROR, in4(dst=VIP, flags="DF") / UDP(sport=42000, dport=7), ERROR]
LINES = [dict(verdict="tx", service="manyudp")] * 4


def check(lines, frames):
    assert ["slot" in line for line in lines] == [True, True, True, False]
