# SPDX-License-Identifier: BSD-2-Clause
"""An IPv4 message does not quote IPv6, nor the other way round."""

from icmp_words import *

IN = [said4(from6(TCP(sport=80, dport=40000)), length=48), said6(from4(TCP(sport=80, dport=40000))), said4(bytes(28)), said4(b"\x44" + bytes(27))]
OUT = []
LINES = [drop("icmp_other")] * len(IN)
