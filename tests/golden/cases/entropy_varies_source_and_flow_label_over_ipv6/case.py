# SPDX-License-Identifier: BSD-2-Clause
"""entropy: 8 bits of a /120, the flow label is the hash's top 20 bits, and the UDP checksum covers the source sent."""

from golden import *

def source(frame):
    return str(ipaddress.ip_address("fd82:64::") + (flow_hash(frame) >> 20 & 0xFF))


def packet(sport, flags):
    return in6(dst="2001:db8:113::149") / TCP(sport=sport, dport=80, flags=flags)


IN = [packet(40000 + i % 8, "S" if i < 8 else "A") for i in range(16)]
OUT = [gue6(p, "fd82::145", src=source(p), fl=flow_hash(p) >> 44) for p in IN]
LINES = [tx("v6", i) for i in range(16)]
