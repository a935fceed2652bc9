# SPDX-License-Identifier: BSD-2-Clause
"""A second first fragment of the same id replaces the first one's decision."""

from golden import *

ONE = in4(dst="203.0.113.30", id=77, flags=0) / TCP(sport=4000, dport=80) / Raw(DATA[:2000])
OTHER = in4(dst="203.0.113.30", id=77, flags=0) / TCP(sport=4001, dport=22) / Raw(DATA[:2000])
(A1, A2), (B1, B2) = cut4(ONE, 1200), cut4(OTHER, 1200)
IN = [A1, A2, B1, B2]
LINES = [tx("b4", 0, service="all"), tx("b4", 1), tx("b6", 2, service="over"), tx("b6", 3)]
