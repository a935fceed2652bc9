# SPDX-License-Identifier: BSD-2-Clause
"""Source equal to the destination, loopback and multicast sources, link-layer broadcast and multicast."""

from golden import *

def syn(src, frame=None):
    return (frame or eth()) / IP(src=src, dst=VIP4, flags="DF") / TCP(sport=40000, dport=80, flags="S")


def syn6(src):
    return in6(src=src) / TCP(sport=40000, dport=80, flags="S")


IN = [
    syn(VIP4),
    syn("127.0.0.1"),
    syn("224.0.0.5"),
    syn6(VIP6),
    syn6("::1"),
    syn6("ff02::1"),
    syn(CLIENT4, eth(dst="ff:ff:ff:ff:ff:ff")),
    syn(CLIENT4, eth(dst="01:00:5e:00:00:05")),
]
OUT = []
LINES = [drop("martian")] * 8
