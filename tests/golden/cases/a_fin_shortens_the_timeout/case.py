# SPDX-License-Identifier: BSD-2-Clause
"""Closing: tcp_closing after the last packet, refreshed by later ones."""

from golden import *

def packet(flags):
    return in4(dst="203.0.113.40", flags="DF") / TCP(sport=40000, dport=80, flags=flags)


IN = [(1000, packet("S")), (1001, packet("A")), (1002, packet("FA")), (1060, packet("A")), (1115, packet("A")), (1180, packet("A"))]
LINES = [dict(verdict="tx")] * 6


def check(lines, frames):
    assert ["slot" in line for line in lines] == [True, False, False, False, False, True]
