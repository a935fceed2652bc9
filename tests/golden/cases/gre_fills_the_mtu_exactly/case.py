# SPDX-License-Identifier: BSD-2-Clause
"""MTU 1500: gre leaves 1476 bytes over IPv4, 1456 over IPv6, for either family inside."""

from golden import *

def four(dst, total):
    return in4(dst=dst, flags="DF") / TCP(sport=40000, dport=80, flags="A") / Raw(b"x" * (total - 40))


def six(dst, total):
    return in6(dst=dst) / TCP(sport=40000, dport=80, flags="A") / Raw(b"x" * (total - 60))


IN = [four("203.0.113.144", 1476), four("203.0.113.145", 1456), six("2001:db8:113::144", 1476), six("2001:db8:113::145", 1456)]
LINES = [tx("r4", 0), tx("r6", 1), tx("r4", 2), tx("r6", 3)]


def check(lines, frames):
    assert [len(frame) for frame in frames] == [1514] * 4
