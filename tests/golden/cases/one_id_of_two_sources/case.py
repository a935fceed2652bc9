# SPDX-License-Identifier: BSD-2-Clause
"""The id is the source's own: two clients with one id do not meet."""

from golden import *

ONE = in4(id=77, flags=0) / UDP(sport=4000, dport=53) / Raw(DATA[:2000])
OTHER = in4(dst=VIP4, src="198.51.100.8", id=77, flags=0) / UDP(sport=4000, dport=53) / Raw(DATA[:2000])
IN = [cut4(ONE, 1200)[0], cut4(OTHER, 1200)[1]]
LINES = [tx("b4"), EXPIRED]
LINES_XDP = [tx("b4"), EARLY]
