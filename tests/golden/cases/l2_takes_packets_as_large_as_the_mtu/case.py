# SPDX-License-Identifier: BSD-2-Clause
"""l2 adds nothing: 1500 bytes fit."""

from golden import *

PACKET = in4(dst="203.0.113.146", flags="DF") / TCP(sport=40000, dport=80, flags="A") / Raw(b"x" * 1460)
IN = [PACKET]
OUT = [l2(PACKET)]
LINES = [tx("l4")]
