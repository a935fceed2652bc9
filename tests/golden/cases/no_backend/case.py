# SPDX-License-Identifier: BSD-2-Clause
"""No eligible backend: counted, and nothing is sent."""

from golden import *

IN = [in4(dst="203.0.113.50") / TCP(sport=40000, dport=80, flags="S")]
OUT = []
LINES = [drop("no_backend")]
