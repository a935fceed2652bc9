# SPDX-License-Identifier: BSD-2-Clause
"""entropy: the low bits of the prefix, 12 of a /20, are the hash's from bit 20 on; one flow keeps one source."""

from golden import *

def source(frame):
    return str(ipaddress.ip_address("10.82.64.0") + (flow_hash(frame) >> 20 & 0xFFF))


def packet(sport, flags):
    return in4(dst="203.0.113.148", flags="DF") / TCP(sport=sport, dport=80, flags=flags)


IN = [packet(40000 + i % 8, "S" if i < 8 else "A") for i in range(16)]
OUT = [outer4(inner(p), proto=4, backend="10.82.0.145", src=source(p)) for p in IN]
LINES = [tx("v4", i) for i in range(16)]
assert len({source(p) for p in IN}) == 8
