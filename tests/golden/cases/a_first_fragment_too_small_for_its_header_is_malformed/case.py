# SPDX-License-Identifier: BSD-2-Clause
"""TCP in pieces of 16 bytes: no decision is made for the rest."""

from golden import *

WHOLE = in4(id=77, flags=0) / TCP(sport=40000, dport=80, flags="S") / Raw(DATA[:28])
IN = cut4(WHOLE, 16)
LINES = [drop("malformed"), EXPIRED, EXPIRED]
LINES_XDP = [drop("malformed"), EARLY, EARLY]
