# SPDX-License-Identifier: BSD-2-Clause
"""DF set, offset 0, no MF."""

from golden import *

SYN = in4(flags="DF") / TCP(sport=40000, dport=80, flags="S")
IN = [SYN]
LINES = [tx("b4")]
