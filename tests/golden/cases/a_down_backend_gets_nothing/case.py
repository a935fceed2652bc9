# SPDX-License-Identifier: BSD-2-Clause
"""With two of three taken away the third gets all."""

from golden import *

DOWN = ["t1", "three/t3"]
IN = [in4(dst="203.0.113.40", flags="DF") / TCP(sport=40000 + i, dport=80, flags="S") for i in range(32)]
LINES = [dict(verdict="tx", backend="t2")] * 32
