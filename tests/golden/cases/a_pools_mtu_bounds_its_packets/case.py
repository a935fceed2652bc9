# SPDX-License-Identifier: BSD-2-Clause
"""mtu: 1400 leaves 1372 bytes in GUE over IPv4, also of IPv6."""

from golden import *

def four(total):
    return in4(dst="203.0.113.150", flags="DF") / TCP(sport=40000, dport=80, flags="A") / Raw(b"x" * (total - 40))


def six(total):
    return in6(dst="2001:db8:113::150") / TCP(sport=40000, dport=80, flags="A") / Raw(b"x" * (total - 60))


IN = [four(1372), six(1372)]
OUT = [gue4(IN[0], "10.82.0.146"), gue4(IN[1], "10.82.0.146")]
LINES = [tx("m4", 0), tx("m4", 1)]
