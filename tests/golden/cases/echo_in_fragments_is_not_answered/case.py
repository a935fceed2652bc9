# SPDX-License-Identifier: BSD-2-Clause
"""First and later fragments of a request."""

from icmp_words import *

IN = [
    in4(flags="MF", id=1) / ICMP() / Raw(bytes(64)),
    in4(frag=9, id=1, proto=1) / Raw(bytes(64)),
    in6() / IPv6ExtHdrFragment(m=1, id=1) / ICMPv6EchoRequest(data=bytes(64)),
]
OUT = []
LINES = [drop("icmp_other")] * 3
