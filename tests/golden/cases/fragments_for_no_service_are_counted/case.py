# SPDX-License-Identifier: BSD-2-Clause
"""The first by its port; the later ones have nothing to follow."""

from golden import *

IN = cut4(in4(id=77, flags=0) / UDP(sport=4000, dport=54) / Raw(DATA[:2000]), 1200)
OUT = []
LINES = [drop("no_service"), EXPIRED]
LINES_XDP = [drop("no_service"), EARLY]
