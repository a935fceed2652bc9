# SPDX-License-Identifier: BSD-2-Clause
"""The same backend as untagged; what leaves has the tags of its next hop, here none."""

from golden import *

P4 = in4(dst="203.0.113.142", flags="DF") / TCP(sport=40000, dport=80, flags="S")
P6 = in6(dst="2001:db8:113::141") / TCP(sport=40000, dport=80, flags="S")


def tagged(frame):
    return eth() / Dot1Q(vlan=100) / frame.payload


IN = [tagged(P4), tagged(P6)]
OUT = [gue6(P4, "fd82::141"), gue4(P6, "10.82.0.141")]
LINES = [tx("g6", 0), tx("g4", 1)]
