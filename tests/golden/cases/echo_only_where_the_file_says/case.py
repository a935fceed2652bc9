# SPDX-License-Identifier: BSD-2-Clause
"""echo: never, while_up with and without a backend at the address, always."""

from icmp_words import *

IN = [in4(dst=f"203.0.113.{last}") / ICMP() / Raw(b"ping") for last in (10, 20, 30, 40, 50)] + [in6() / ICMPv6EchoRequest()]
OUT = [answer(IN[1]), answer(IN[3]), answer(IN[4])]
LINES = [drop("icmp_other"), reply(0), drop("icmp_other"), reply(1), reply(2), drop("icmp_other")]
