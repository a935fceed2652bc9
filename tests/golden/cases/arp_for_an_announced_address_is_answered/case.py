# SPDX-License-Identifier: BSD-2-Clause
"""From the port's MAC; a prefix announces each of its addresses; probes (RFC 5227) are answered; padding goes."""

from icmp_words import *

def who_has(target, sender="10.82.0.1", dst="ff:ff:ff:ff:ff:ff", **fields):
    return Ether(src=SENDER, dst=dst) / ARP(op=1, hwsrc=SENDER, psrc=sender, hwdst="00:00:00:00:00:00", pdst=target, **fields)


def is_at(target, sender="10.82.0.1"):
    return Ether(src=US, dst=SENDER) / ARP(op=2, hwsrc=US, psrc=target, hwdst=SENDER, pdst=sender)


TAG = Ether(src=SENDER, dst="ff:ff:ff:ff:ff:ff") / Dot1Q(vlan=5) / who_has("10.82.0.200")[ARP]
IN = [
    who_has("10.82.0.200"),
    who_has("10.82.0.200", dst=US),
    who_has("10.82.0.200", sender="0.0.0.0"),
    who_has("10.82.1.9"),
    who_has("10.82.0.200") / Padding(bytes(18)),
    TAG,
]
OUT = [
    is_at("10.82.0.200"),
    is_at("10.82.0.200"),
    is_at("10.82.0.200", "0.0.0.0"),
    is_at("10.82.1.9"),
    is_at("10.82.0.200"),
    Ether(src=US, dst=SENDER) / Dot1Q(vlan=5) / is_at("10.82.0.200")[ARP],
]
LINES = [reply(i) for i in range(6)]
