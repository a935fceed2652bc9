# SPDX-License-Identifier: BSD-2-Clause
"""Routers change the packet that they quote."""

from icmp_words import *

IN = [
    said4(from4(TCP(sport=80, dport=40000), len=0, chksum=0, ttl=0)),
    said4(from4(TCP(sport=80, dport=40000), len=0xFFFF, chksum=0xBEEF)),
    said6(from6(TCP(sport=80, dport=40000), plen=0, hlim=0)),
]
OUT = [outer4(inner(frame), proto=4 if IPv6 not in frame else 41) for frame in IN]
LINES = [tx("b4", i, service="web4") for i in range(3)]
