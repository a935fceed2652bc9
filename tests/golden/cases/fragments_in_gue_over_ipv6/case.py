# SPDX-License-Identifier: BSD-2-Clause
"""The outer checksum is right for a fragment, which has none of its own."""

from golden import *

WHOLE = in4(dst="203.0.113.142", id=77, flags=0) / UDP(sport=4000, dport=53) / Raw(DATA[:2001])
IN = cut4(WHOLE, 1200)
OUT = [
    Ether(**TO_BACKEND) / IPv6(src=LB6, dst="fd82::141", hlim=64) / UDP(sport=gue_port(WHOLE), dport=6080) / Raw(inner(p))
    for p in IN
]
LINES = [tx("g6", 0), tx("g6", 1)]
