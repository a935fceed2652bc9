# SPDX-License-Identifier: BSD-2-Clause
"""203.0.113.65 has port 443 only; port 80 of the /26 around it does not reach it."""

from golden import *

IN = [
    in4(dst="203.0.113.64", flags="DF") / TCP(sport=40000, dport=80, flags="S"),
    in4(dst="203.0.113.127", flags="DF") / TCP(sport=40000, dport=80, flags="S"),
    in4(dst="203.0.113.65", flags="DF") / TCP(sport=40000, dport=443, flags="S"),
    in4(dst="203.0.113.65", flags="DF") / TCP(sport=40000, dport=80, flags="S"),
    in4(dst="203.0.113.128", flags="DF") / TCP(sport=40000, dport=80, flags="S"),
]
LINES = [
    dict(verdict="tx", backend="b6", service="net"),
    dict(verdict="tx", backend="b6", service="net"),
    dict(verdict="tx", backend="b4", service="host"),
    dict(verdict="host"),
    HOST,
]
