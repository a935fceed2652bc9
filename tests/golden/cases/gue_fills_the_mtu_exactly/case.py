# SPDX-License-Identifier: BSD-2-Clause
"""MTU 1500: gue leaves 1472 bytes over IPv4, 1452 over IPv6, for either family inside."""

from golden import *

def four(dst, total):
    return in4(dst=dst, flags="DF") / TCP(sport=40000, dport=80, flags="A") / Raw(b"x" * (total - 40))


def six(dst, total):
    return in6(dst=dst) / TCP(sport=40000, dport=80, flags="A") / Raw(b"x" * (total - 60))


IN = [four("203.0.113.141", 1472), four("203.0.113.142", 1452), six("2001:db8:113::141", 1472), six("2001:db8:113::142", 1452)]
LINES = [tx("g4", 0), tx("g6", 1), tx("g4", 2), tx("g6", 3)]


def check(lines, frames):
    assert [len(frame) for frame in frames] == [1514] * 4
