# SPDX-License-Identifier: BSD-2-Clause
"""The destination belongs to what names a datagram."""

from golden import *

ONE = in6() / IPv6ExtHdrFragment(id=77) / UDP(sport=4000, dport=53) / Raw(DATA[:2000])
OTHER = in6(dst="2001:db8:113::141") / IPv6ExtHdrFragment(id=77) / UDP(sport=4000, dport=53) / Raw(DATA[:2000])
IN = [cut6(ONE, 1280)[0], cut6(OTHER, 1280)[1]]
LINES = [tx("b4"), EXPIRED]
LINES_XDP = [tx("b4"), EARLY]
