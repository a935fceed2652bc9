# SPDX-License-Identifier: BSD-2-Clause
"""Echo and others to a service address: nothing is sent."""

from golden import *

IN = [in4() / ICMP() / Raw(b"ping"), in4() / ICMP(type=13), in6() / ICMPv6EchoRequest()]
OUT = []
LINES = [drop("icmp_other")] * 3
