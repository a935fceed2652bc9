# SPDX-License-Identifier: BSD-2-Clause
"""Memory is bounded: the next one is counted frag_full."""

from golden import *

IN = [in4(id=i, flags=0, frag=100, proto=17) / Raw(DATA[:100]) for i in range(258)]
OUT = []
LINES = [EXPIRED] * 256 + [drop("frag_full", held=False)] * 2
LINES_XDP = [EARLY] * 258
