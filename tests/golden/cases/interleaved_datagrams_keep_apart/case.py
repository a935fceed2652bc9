# SPDX-License-Identifier: BSD-2-Clause
"""Fragments of eight datagrams of eight flows, mixed: each datagram stays on one backend."""

from golden import *

WHOLES = [in4(dst="203.0.113.40", id=100 + i, flags=0) / UDP(sport=5000 + i, dport=9) / Raw(DATA[:2000]) for i in range(8)]
PIECES = [cut4(whole, 1000) for whole in WHOLES]
IN = [pieces[n] for n in range(3) for pieces in PIECES]
LINES = [dict(verdict="tx", service="manyudp", out=[i]) for i in range(24)]


def check(lines, frames):
    for i, whole in enumerate(WHOLES):
        mine = [lines[i + 8 * n] for n in range(3)]
        assert len({line["backend"] for line in mine}) == 1
        assert {int(line["hash"], 16) for line in mine} == {flow_hash(whole)}
    assert len({line["backend"] for line in lines}) > 1
