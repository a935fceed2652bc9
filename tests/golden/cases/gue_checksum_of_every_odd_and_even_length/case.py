# SPDX-License-Identifier: BSD-2-Clause
"""GUE over IPv6: the checksum is right around every piece boundary, odd lengths too."""

from golden import *

def packet(size):
    return in6(dst="2001:db8:113::142") / UDP(sport=40000, dport=53) / Raw(bytes(i * 31 & 0xFF for i in range(size)))


SIZES = [0, 1, 2, 3, 15, 16, 17, 463, 464, 465, 466, 975, 976, 977, 1403, 1404]
IN = [packet(size) for size in SIZES]
OUT = [gue6(p, "fd82::141") for p in IN]
LINES = [tx("g6", i) for i in range(len(IN))]
