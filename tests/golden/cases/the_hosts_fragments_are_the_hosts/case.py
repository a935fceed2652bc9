# SPDX-License-Identifier: BSD-2-Clause
"""Where what no service takes is the host's, all fragments of it are."""

from golden import *

IN = cut4(in4(dst="203.0.113.65", id=77, flags=0) / UDP(sport=4000, dport=9) / Raw(DATA[:2000]), 1200)
OUT = []
LINES = [HOST, HOST]
