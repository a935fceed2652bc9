# SPDX-License-Identifier: BSD-2-Clause
"""Every fragment of an IPv4 datagram goes where its first one went."""

from golden import *

WHOLE = in4(id=77, flags=0) / UDP(sport=4000, dport=53) / Raw(DATA[:3000])
IN = cut4(WHOLE, 1200)
OUT = [ipip4(piece, WHOLE) for piece in IN]
LINES = [tx("b4", i, held=False, service="dns") for i in range(3)]
