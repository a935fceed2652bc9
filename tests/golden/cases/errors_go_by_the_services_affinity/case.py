# SPDX-License-Identifier: BSD-2-Clause
"""The quoted client decides, as it does for its packets."""

from icmp_words import *

CLIENTS = [f"198.51.100.{last}" for last in range(1, 17)]
VIPS = ("203.0.113.10", "203.0.113.20")
IN = [said4(from4(TCP(sport=80, dport=1234), src=vip, dst=client), dst=vip) for vip in VIPS for client in CLIENTS] + [
    in4(src=client, dst=vip, flags="DF") / TCP(sport=5678, dport=80, flags="S") for vip in VIPS for client in CLIENTS
]
LINES = [dict(verdict="tx")] * len(IN)


def check(lines, frames):
    half = len(lines) // 2
    for error, flow in zip(lines[:half], lines[half:]):
        assert (error["backend"], error["hash"]) == (flow["backend"], flow["hash"])
    assert {line["backend"] for line in lines} == {"t1", "t2", "t3"}
