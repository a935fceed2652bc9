# SPDX-License-Identifier: BSD-2-Clause
"""A frame padded to 60 bytes and beyond: the length comes from the IP header."""

from golden import *

ACK = in4(flags="DF") / TCP(sport=40000, dport=80, flags="A")
IN = [fixed(ACK) / Padding(b"\xee" * n) for n in (6, 1, 200)]
OUT = [outer4(inner(ACK), proto=4)] * 3
LINES = [tx("b4", i) for i in range(3)]
