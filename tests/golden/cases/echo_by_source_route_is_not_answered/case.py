# SPDX-License-Identifier: BSD-2-Clause
"""A source route would send the answer where the sender says."""

from icmp_words import *

IN = [
    in4(options=[option]) / ICMP() / Raw(b"ping")
    for option in (IPOption_LSRR(routers=["192.0.2.1"]), IPOption_SSRR(routers=["192.0.2.1"]))
] + [in4(options=[IPOption_NOP(), IPOption_NOP(), IPOption_LSRR(routers=["192.0.2.1"])]) / ICMP()]
OUT = []
LINES = [drop("icmp_other")] * 3
