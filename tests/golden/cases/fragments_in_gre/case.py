# SPDX-License-Identifier: BSD-2-Clause
"""Both families of the outer header."""

from golden import *

ONE = in4(dst="203.0.113.144", id=77, flags=0) / UDP(sport=4000, dport=53) / Raw(DATA[:2000])
OTHER = in6(dst="2001:db8:113::145") / IPv6ExtHdrFragment(id=77) / UDP(sport=4000, dport=53) / Raw(DATA[:2000])
A, B = cut4(ONE, 1200), cut6(OTHER, 1280)
IN = A + B
OUT = [outer4(gre(p), proto=47, backend="10.82.0.143", flags=0, ident=77 ^ flow_hash(ONE) & 0xFFFF) for p in A]
OUT += [outer6(gre(p), nh=47, backend="fd82::143") for p in B]
LINES = [tx("r4", 0), tx("r4", 1), tx("r6", 2), tx("r6", 3)]
