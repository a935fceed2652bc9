# SPDX-License-Identifier: BSD-2-Clause
"""The last backend drains: a flow that is not tracked finds nobody."""

from golden import *

IN = [in4(dst="203.0.113.51") / TCP(sport=40000, dport=80, flags=f) for f in ("S", "A")]
OUT = []
LINES = [drop("no_backend")] * 2
