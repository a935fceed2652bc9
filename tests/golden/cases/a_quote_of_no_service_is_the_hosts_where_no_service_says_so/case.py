# SPDX-License-Identifier: BSD-2-Clause
"""no_service: host holds for errors too; what quotes no flow at all is dropped all the same."""

from icmp_words import *

HERE = "203.0.113.65"
IN = [
    said4(from4(TCP(sport=444, dport=40000), src=HERE), dst=HERE),
    said4(from4(TCP(sport=443, dport=40000), src=HERE), dst=HERE),
    said4(from4(TCP(sport=444, dport=40000), src=HERE), dst=HERE, length=20),
]
OUT = [outer4(inner(IN[1]), proto=4)]
LINES = [HOST, tx("b4", 0, service="host"), drop("icmp_other")]
