# SPDX-License-Identifier: BSD-2-Clause
"""UDP is quoted like TCP; the port says which service."""

from icmp_words import *

IN = [said4(from4(UDP(sport=53, dport=5353))), said6(from6(UDP(sport=53, dport=5353)))]
OUT = [outer4(inner(frame), proto=4 if IP in frame and IPv6 not in frame else 41) for frame in IN]
LINES = [tx("b4", i, service="dns") for i in range(2)]
