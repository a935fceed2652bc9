# SPDX-License-Identifier: BSD-2-Clause
"""Never an error about an error."""

from icmp_words import *

BIG = said4(from4(TCP(sport=80, dport=40000) / Raw(bytes(1450))), length=1473)
BIG6 = said6(from6(TCP(sport=80, dport=40000) / Raw(bytes(1450))), length=1433)
IN = [BIG, BIG6, said4(from4(TCP(sport=80, dport=40000) / Raw(bytes(1450))), length=1452)]
OUT = [outer4(inner(IN[2]), proto=4)]
LINES = [drop("too_big"), drop("too_big"), tx("b4", 0)]
