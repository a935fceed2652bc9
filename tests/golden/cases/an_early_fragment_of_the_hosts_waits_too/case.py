# SPDX-License-Identifier: BSD-2-Clause
"""Whose it is shows with the first (DPDK)."""

from golden import *

FIRST, LATER = cut4(in4(dst="203.0.113.65", id=77, flags=0) / UDP(sport=4000, dport=9) / Raw(DATA[:2000]), 1200)
IN = [LATER, FIRST]
OUT = []
LINES = [dict(HOST, held=True), HOST]
LINES_XDP = [EARLY, HOST]
