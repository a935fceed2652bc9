# SPDX-License-Identifier: BSD-2-Clause
"""All packets of a flow go to one backend, whatever their flags."""

from golden import *

IN = [
    in4(dst="203.0.113.40", flags="DF") / TCP(sport=port, dport=80, flags=flags)
    for port in range(40000, 40016)
    for flags in ("S", "A", "PA", "FA", "A", "R")
]
LINES = [dict(verdict="tx")] * len(IN)


def check(lines, frames):
    for flow in range(16):
        assert len({line["backend"] for line in lines[flow * 6 : flow * 6 + 6]}) == 1
    assert {line["backend"] for line in lines} == {"t1", "t2", "t3"}
