# SPDX-License-Identifier: BSD-2-Clause
"""One flow, one source port, whatever its packets are; different flows differ."""

from golden import *

def packet(sport, flags, size):
    return in4(dst="203.0.113.141", flags="DF") / TCP(sport=sport, dport=80, flags=flags) / Raw(b"x" * size)


IN = [packet(40000 + f, flags, size) for flags, size in (("S", 0), ("A", 0), ("PA", 500), ("FA", 0)) for f in range(4)]
OUT = [gue4(p, "10.82.0.141") for p in IN]
LINES = [tx("g4", i) for i in range(16)]
PORTS = [fixed(p)[UDP].sport for p in OUT]
assert PORTS[:4] == PORTS[4:8] == PORTS[8:12] == PORTS[12:]
assert len(set(PORTS)) > 1 and min(PORTS) >= 0xC000
