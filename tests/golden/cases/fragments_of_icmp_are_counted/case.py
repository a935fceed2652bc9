# SPDX-License-Identifier: BSD-2-Clause
"""A fragmented echo request is not answered, its later fragments are not held."""

from golden import *

IN = cut4(in4(id=77, flags=0) / ICMP(type=8) / Raw(DATA[:2000]), 1200)
OUT = []
LINES = [drop("icmp_other", held=False)] * 2
