# SPDX-License-Identifier: BSD-2-Clause
"""The outer checksum covers all buffers of the frame."""

from golden import *

MTU = 9000
SIZES = [3400, 3461, 3500, 3521, 4097, 7617, 8952]
IN = [in4(dst="203.0.113.142", id=77, flags=0) / UDP(sport=4000, dport=53) / Raw(DATA[: size - 28]) for size in SIZES]
OUT = [gue6(frame, "fd82::141") for frame in IN]
LINES = [tx("g6", i) for i in range(len(IN))]
