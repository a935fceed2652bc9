# SPDX-License-Identifier: BSD-2-Clause
"""Errors that quote a flow of a service with track_flows: false, its fragments, packets too big: all by the flow's slot."""

from icmp_words import *

PORTS = range(42000, 42012)
SYNS = [in4(flags="DF") / TCP(sport=port, dport=443, flags="S") for port in PORTS]
ERRORS = [said4(from4(TCP(sport=443, dport=port), src=VIP4), dst=VIP4) for port in PORTS]
WHOLE = in4(id=77, flags=0) / UDP(sport=4000, dport=5000) / Raw(DATA[:3000])
PIECES = cut4(WHOLE, 1200)
BIG = in4(flags="DF") / TCP(sport=42000, dport=443, flags="A") / Raw(DATA[:1460])
IN = SYNS + ERRORS + PIECES + [BIG]
LINES = [dict(verdict="tx", service="plain", flow="table_only", hash=f"{flow_hash(frame):016x}") for frame in SYNS]
LINES += [dict(verdict="tx", service="plain", hash=f"{flow_hash(frame):016x}", slot=flow_hash(frame) % 65537)
          for frame in SYNS]
LINES += [dict(verdict="tx", service="plain", held=False, hash=f"{flow_hash(WHOLE):016x}")] * len(PIECES)
LINES += [dict(verdict="reply", reason=None)]


def check(lines, frames):
    flows, errors = lines[: len(SYNS)], lines[len(SYNS) : 2 * len(SYNS)]
    assert [line["backend"] for line in flows] == [line["backend"] for line in errors]
    assert {line["backend"] for line in flows} == {"t1", "t2", "t3"}
    assert len({line["backend"] for line in lines[2 * len(SYNS) : -1]}) == 1
    assert bytes(frames[-1]) == bytes(too_big(BIG, 1480))
