# SPDX-License-Identifier: BSD-2-Clause
"""60 s for UDP."""

from golden import *

DATAGRAM = in4(dst="203.0.113.40", flags="DF") / UDP(sport=5000, dport=7)
IN = [(1000, DATAGRAM), (1050, DATAGRAM), (1105, DATAGRAM), (1170, DATAGRAM)]
LINES = [dict(verdict="tx")] * 4


def check(lines, frames):
    assert ["slot" in line for line in lines] == [True, False, False, True]
