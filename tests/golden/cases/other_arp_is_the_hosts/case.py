# SPDX-License-Identifier: BSD-2-Clause
"""Unannounced addresses, announcements, replies, other link layers."""

from icmp_words import *

def arp(target="10.82.0.200", **fields):
    return Ether(src=SENDER, dst="ff:ff:ff:ff:ff:ff") / ARP(**{**dict(op=1, hwsrc=SENDER, psrc="10.82.0.1", pdst=target), **fields})


IN = [
    arp("203.0.113.10"),
    arp("10.82.0.11"),
    arp("10.82.1.16"),
    arp(psrc="10.82.0.200"),
    arp(op=2),
    arp(op=3),
    arp(hwtype=6),
    arp(ptype=0x86DD),
    arp(hwlen=8, hwsrc=b"\0" * 8, hwdst=b"\0" * 8),
    Ether(bytes(arp())[:40]),
]
OUT = []
LINES = [HOST] * len(IN)
