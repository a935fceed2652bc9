# SPDX-License-Identifier: BSD-2-Clause
"""8000-8099 to six, 8010-8019 to four, 8015 to six."""

from golden import *

PORTS = {7999: None, 8000: "b6", 8009: "b6", 8010: "b4", 8014: "b4", 8015: "b6", 8016: "b4", 8019: "b4", 8020: "b6", 8099: "b6", 8100: None}
IN = [in4(flags="DF") / TCP(sport=40000, dport=port, flags="S") for port in PORTS]
LINES = [dict(verdict="tx", backend=name) if name else drop("no_service") for name in PORTS.values()]
