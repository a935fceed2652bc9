# SPDX-License-Identifier: BSD-2-Clause
"""IPv4 in GUE over IPv4: IP directly in UDP (GUE variant 1), checksum 0."""

from golden import *

SYN = in4(dst="203.0.113.141", flags="DF") / TCP(sport=40000, dport=80, flags="S")
IN = [SYN]
OUT = [gue4(SYN, "10.82.0.141")]
LINES = [tx("g4", service="gue4")]
