# SPDX-License-Identifier: BSD-2-Clause
"""The first has no backend, so the later ones have none to follow."""

from golden import *

IN = cut4(in4(dst="203.0.113.50", id=77, flags=0) / TCP(sport=4000, dport=80) / Raw(DATA[:2000]), 1200)
OUT = []
LINES = [drop("no_backend"), EXPIRED]
LINES_XDP = [drop("no_backend"), EARLY]
