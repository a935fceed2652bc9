# SPDX-License-Identifier: BSD-2-Clause
"""track_flows: false: every packet asks the table, with the hash that a tracked flow's first one has. Its neighbours track."""

from golden import *

PORTS = range(40000, 40008)
PLAIN = [in4(flags="DF") / TCP(sport=port, dport=443, flags=flags) for port in PORTS for flags in ("S", "A", "PA", "FA", "R")]
PLAIN += [in6() / UDP(sport=port, dport=443) for port in PORTS for _ in range(2)]
PLAIN += [in4(flags="DF") / SCTP(sport=port, dport=7) for port in PORTS]
DNS = [in4(src=f"198.51.100.{last}") / UDP(sport=port, dport=53) for last in (7, 8, 9) for port in PORTS]
WEB = [in4(flags="DF") / TCP(sport=port, dport=80, flags=flags) for port in PORTS for flags in ("S", "A")]
IN = PLAIN + DNS + WEB
LINES = [dict(verdict="tx", service="plain", flow="table_only", hash=f"{flow_hash(frame):016x}",
              slot=flow_hash(frame) % 65537) for frame in PLAIN]
LINES += [dict(verdict="tx", service="dns", flow="table_only")] * len(DNS)
LINES += [dict(verdict="tx", service="web", flow=flow) for _ in PORTS for flow in ("new", "tracked")]


def check(lines, frames):
    owner = {line["slot"]: line["backend"] for line in lines if "slot" in line}
    assert all(owner[line["slot"]] == line["backend"] for line in lines if "slot" in line)
    assert set(owner.values()) == {"t1", "t2", "t3"}
    dns = lines[len(PLAIN) : len(PLAIN) + len(DNS)]
    assert len({line["slot"] for line in dns}) == 3  # by the client's address
    assert ["slot" in line for line in lines[-len(WEB) :]] == [True, False] * len(PORTS)
