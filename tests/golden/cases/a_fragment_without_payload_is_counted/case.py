# SPDX-License-Identifier: BSD-2-Clause
"""Of both kinds and both families."""

from golden import *

IN = [
    in4(id=1, flags="MF", proto=17),
    in4(id=1, flags=0, frag=10, proto=17),
    in6() / IPv6ExtHdrFragment(id=1, m=1, nh=17),
    in6() / IPv6ExtHdrFragment(id=1, offset=10, nh=17),
]
LINES = [drop("frag_empty")] * 4
