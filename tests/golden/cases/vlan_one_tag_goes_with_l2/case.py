# SPDX-License-Identifier: BSD-2-Clause
"""The same backend as untagged; what leaves has the tags of its next hop, here none."""

from golden import *

P4 = in4(dst="203.0.113.146", flags="DF") / TCP(sport=40000, dport=80, flags="S")
P6 = in6(dst="2001:db8:113::147") / TCP(sport=40000, dport=80, flags="S")


def tagged(frame):
    return eth() / Dot1Q(vlan=100) / frame.payload


IN = [tagged(P4), tagged(P6)]
OUT = [l2(P4), l2(P6)]
LINES = [tx("l4", 0), tx("l6", 1)]
