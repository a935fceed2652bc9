# SPDX-License-Identifier: BSD-2-Clause
"""ARP, other addresses, ICMP, fragments, unknown ethertypes: untouched."""

from golden import *

IN = [
    eth(dst="ff:ff:ff:ff:ff:ff") / ARP(pdst="10.82.0.11"),
    in4(dst="10.82.0.11") / TCP(dport=22),
    in4(dst="10.82.0.11") / ICMP(),
    in4(dst="10.82.0.11", flags="MF") / UDP(dport=53),
    in6(dst="fd82::11") / ICMPv6EchoRequest(),
    in6(dst="ff02::1:ff00:11") / ICMPv6EchoRequest(),
    eth(type=0x88CC) / Raw(b"lldp"),
    eth(type=0x9999) / Raw(b"?"),
    eth() / Raw(b""),
]
OUT = []
LINES = [HOST] * 9
