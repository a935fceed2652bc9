# SPDX-License-Identifier: BSD-2-Clause
"""GUE leaves 1472 and 1452, GRE 1476 and 1456."""

from icmp_words import *

MTUS = {10: 1472, 20: 1452, 30: 1476, 40: 1456}


def big(last, total, version):
    if version == 4:
        return in4(dst=f"203.0.113.{last}", flags="DF") / TCP(sport=40000, dport=80) / Raw(b"x" * (total - 40))
    return in6(dst=f"2001:db8:113::{last}") / TCP(sport=40000, dport=80) / Raw(b"x" * (total - 60))


IN = [big(last, mtu + 1, version) for last, mtu in MTUS.items() for version in (4, 6)]
OUT = [too_big(frame, mtu) for frame, mtu in zip(IN, [mtu for mtu in MTUS.values() for _ in (4, 6)])]
LINES = [reply(i) for i in range(8)]
