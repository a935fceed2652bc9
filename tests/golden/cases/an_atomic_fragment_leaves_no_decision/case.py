# SPDX-License-Identifier: BSD-2-Clause
"""It is whole: a later fragment of its id has no first."""

from golden import *

IN = [
    in6() / IPv6ExtHdrFragment(id=77) / UDP(sport=4000, dport=53) / Raw(DATA[:100]),
    in6() / IPv6ExtHdrFragment(id=77, offset=20, nh=17) / Raw(DATA[:100]),
]
LINES = [tx("b4"), EXPIRED]
LINES_XDP = [tx("b4"), EARLY]
