# SPDX-License-Identifier: BSD-2-Clause
"""The source is judged before anything is held."""

from golden import *

IN = cut4(in4(src="127.0.0.1", id=77, flags=0) / UDP(sport=4000, dport=53) / Raw(DATA[:2000]), 1200)
OUT = []
LINES = [drop("martian", held=False)] * 2
