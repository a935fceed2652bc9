# SPDX-License-Identifier: BSD-2-Clause
"""An address that a service uses, on a port or protocol that none does."""

from golden import *

IN = [
    in4() / TCP(sport=40000, dport=81, flags="S"),
    in4() / UDP(sport=40000, dport=80),
    in4(proto=47) / Raw(b"gre" * 8),
    in4(dst="203.0.113.65") / TCP(sport=40000, dport=80, flags="S"),
]
OUT = []
LINES = [drop("no_service")] * 3 + [dict(verdict="host", out=[])]
