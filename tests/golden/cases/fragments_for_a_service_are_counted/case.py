# SPDX-License-Identifier: BSD-2-Clause
"""First and later fragments, both families."""

from golden import *

IN = [
    in4(flags="MF", id=9) / UDP(sport=1, dport=53, len=1008) / Raw(b"x" * 1000),
    in4(flags=0, frag=126, id=9, proto=17) / Raw(b"x" * 100),
    in6() / IPv6ExtHdrFragment(m=1, id=9) / UDP(sport=1, dport=53) / Raw(b"x" * 16),
    in6() / IPv6ExtHdrFragment(offset=3, id=9, nh=17) / Raw(b"x" * 16),
]
OUT = []
LINES = [drop("fragment")] * 4
