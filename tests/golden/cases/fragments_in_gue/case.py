# SPDX-License-Identifier: BSD-2-Clause
"""One source port for the whole datagram."""

from golden import *

WHOLE = in4(dst="203.0.113.141", id=77, flags=0) / UDP(sport=4000, dport=53) / Raw(DATA[:2000])
IN = cut4(WHOLE, 1200)
OUT = [
    outer4(bytes(UDP(sport=gue_port(WHOLE), dport=6080, len=8 + len(inner(p)), chksum=0)) + inner(p), proto=17,
           backend="10.82.0.141", flags=0, ident=77 ^ flow_hash(WHOLE) & 0xFFFF)
    for p in IN
]
LINES = [tx("g4", 0), tx("g4", 1)]
