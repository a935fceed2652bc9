# SPDX-License-Identifier: BSD-2-Clause
"""After tcp_new a flow that saw one packet is forgotten and chosen anew."""

from golden import *

SYN = in4(dst="203.0.113.40", flags="DF") / TCP(sport=40000, dport=80, flags="S")
IN = [(1000, SYN), (1005, SYN), (1040, SYN)]
LINES = [dict(verdict="tx")] * 3


def check(lines, frames):
    # A tracked packet never asks the table: its line has no slot.
    assert ["slot" in line for line in lines] == [True, False, True]
