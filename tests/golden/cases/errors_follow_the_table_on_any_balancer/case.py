# SPDX-License-Identifier: BSD-2-Clause
"""Without a tracked flow the error goes where the flow itself would: same hash, same slot, same backend."""

from icmp_words import *

VIP = "203.0.113.40"
FLOWS = [in4(dst=VIP, flags="DF") / TCP(sport=port, dport=80, flags="A") for port in range(41000, 41032)]
ERRORS = [said4(from4(TCP(sport=80, dport=port), src=VIP), dst=VIP) for port in range(41000, 41032)]
IN = ERRORS + FLOWS
LINES = [dict(verdict="tx", service="many")] * len(IN)


def check(lines, frames):
    for error, flow in zip(lines[:32], lines[32:]):
        assert (error["backend"], error["slot"], error["hash"]) == (flow["backend"], flow["slot"], flow["hash"])
    assert {line["backend"] for line in lines} == {"t1", "t2", "t3"}
