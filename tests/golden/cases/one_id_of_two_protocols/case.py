# SPDX-License-Identifier: BSD-2-Clause
"""In IPv4 the protocol belongs to what names a datagram."""

from golden import *

ONE = in4(dst="203.0.113.30", id=77, flags=0) / UDP(sport=4000, dport=53) / Raw(DATA[:2000])
OTHER = in4(dst="203.0.113.30", id=77, flags=0) / TCP(sport=4000, dport=22) / Raw(DATA[:2000])
(U1, U2), (T1, T2) = cut4(ONE, 1200), cut4(OTHER, 1200)
IN = [U1, T1, U2, T2]
LINES = [tx("b4", 0), tx("b6", 1), tx("b4", 2), tx("b6", 3)]
OUT = [ipip4(U1, ONE), outer6(inner(T1), nh=4), ipip4(U2, ONE), outer6(inner(T2), nh=4)]
