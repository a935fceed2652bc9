# SPDX-License-Identifier: BSD-2-Clause
"""A service of any protocol gets errors about packets without ports, and about ports nobody else has."""

from icmp_words import *

HERE = "203.0.113.30"
IN = [
    said4(from4(Raw(bytes(8)), src=HERE, proto=47), dst=HERE, length=20),
    said4(from4(TCP(sport=9999, dport=40000), src=HERE), dst=HERE),
    said4(from4(TCP(sport=22, dport=40000), src=HERE), dst=HERE),
]
OUT = [outer4(inner(IN[0]), proto=4), outer4(inner(IN[1]), proto=4), outer6(inner(IN[2]), nh=4)]
LINES = [tx("b4", 0, service="all"), tx("b4", 1, service="all"), tx("b6", 2, service="over")]
