# SPDX-License-Identifier: BSD-2-Clause
"""The second packet that is no SYN makes it established."""

from golden import *

SYN = in4(dst="203.0.113.40", flags="DF") / TCP(sport=40000, dport=80, flags="S")
ACK = in4(dst="203.0.113.40", flags="DF") / TCP(sport=40000, dport=80, flags="A")
IN = [(1000, SYN), (1001, ACK), (1800, ACK), (2800, ACK)]
LINES = [dict(verdict="tx")] * 4


def check(lines, frames):
    assert ["slot" in line for line in lines] == [True, False, False, True]
