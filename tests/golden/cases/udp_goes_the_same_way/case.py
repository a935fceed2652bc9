# SPDX-License-Identifier: BSD-2-Clause
"""A UDP datagram, in both families."""

from golden import *

FOUR = in4(flags="DF") / UDP(sport=5353, dport=53) / Raw(b"query")
SIX = in6() / UDP(sport=5353, dport=53) / Raw(b"query")
IN = [FOUR, SIX]
OUT = [outer4(inner(FOUR), proto=4), outer4(inner(SIX), proto=41)]
LINES = [tx("b4", 0, service="dns"), tx("b4", 1, service="dns")]
