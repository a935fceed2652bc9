# SPDX-License-Identifier: BSD-2-Clause
"""An any-protocol service takes what no exact one does: other ports, UDP, GRE."""

from golden import *

IN = [
    in4(dst="203.0.113.30", flags="DF") / TCP(sport=40000, dport=22, flags="S"),
    in4(dst="203.0.113.30", flags="DF") / TCP(sport=40000, dport=23, flags="S"),
    in4(dst="203.0.113.30", flags="DF") / UDP(sport=40000, dport=22),
    in4(dst="203.0.113.30", flags="DF", proto=47) / Raw(b"gre" * 8),
]
LINES = [
    dict(verdict="tx", backend="b6", service="over"),
    dict(verdict="tx", backend="b4", service="all"),
    dict(verdict="tx", backend="b4", service="all"),
    dict(verdict="tx", backend="b4", service="all"),
]
