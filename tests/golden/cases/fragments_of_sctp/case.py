# SPDX-License-Identifier: BSD-2-Clause
"""Ports are SCTP's, in the first fragment."""

from golden import *

WHOLE = in4(dst="203.0.113.30", id=77, flags=0) / SCTP(sport=4000, dport=5060) / Raw(DATA[:2000])
IN = cut4(WHOLE, 1200)
OUT = [ipip4(piece, WHOLE) for piece in IN]
LINES = [tx("b4", 0, service="all"), tx("b4", 1, service="all")]
