# SPDX-License-Identifier: BSD-2-Clause
"""--mtu 2000."""

from golden import *

MTU = 2000
BIG = in4(flags="DF") / TCP(sport=40000, dport=80, flags="A") / Raw(b"x" * 1940)
BIGGER = in4(flags="DF") / TCP(sport=40000, dport=80, flags="A") / Raw(b"x" * 1941)
IN = [BIG, BIGGER]
OUT = [outer4(inner(BIG), proto=4)]
LINES = [tx("b4"), drop("too_big")]
