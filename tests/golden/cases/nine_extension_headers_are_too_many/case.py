# SPDX-License-Identifier: BSD-2-Clause
"""At most 8 extension headers are walked."""

from golden import *

def chain(n):
    packet = in6()
    for _ in range(n):
        packet = packet / IPv6ExtHdrDestOpt()
    return packet / TCP(sport=40000, dport=80, flags="S")


IN = [chain(8), chain(9)]
OUT = [outer4(inner(chain(8)), proto=41)]
LINES = [tx("b4"), drop("exthdr")]
