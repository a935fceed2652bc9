# SPDX-License-Identifier: BSD-2-Clause
"""It has no ports."""

from icmp_words import *

IN = [said4(from4(Raw(bytes(16)), proto=6, frag=100)), said6(from6(IPv6ExtHdrFragment(offset=100, id=3, nh=6) / Raw(bytes(16))), length=64)]
OUT = []
LINES = [drop("icmp_other")] * len(IN)
