# SPDX-License-Identifier: BSD-2-Clause
"""
XDP's first buffer, of less than a page, may hold the whole packet, and only its padding goes on in others: it is cut
there as well. SIZES come to the first buffer's end from both sides.
"""

from golden import *

MTU = 9000
SIZES = [78, 1500, *range(3440, 3540, 2)]
V4 = [in4(id=77, flags=0) / UDP(sport=4000, dport=53) / Raw(DATA[: size - 28]) for size in SIZES]
GUE = in4("203.0.113.142", flags="DF") / UDP(sport=4000, dport=53) / Raw(DATA[:50])
L2 = in4("203.0.113.146", flags="DF") / UDP(sport=4000, dport=53) / Raw(DATA[:50])
WHOLE = [*V4, GUE, L2]
IN = [Ether(bytes(fixed(frame)) + bytes(4000)) for frame in WHOLE]
OUT = [*(ipip4(frame, frame) for frame in V4), gue6(GUE, "fd82::141"), l2(L2)]
LINES = [*(tx("b4", i) for i in range(len(V4))), tx("g6", len(V4)), tx("l4", len(V4) + 1)]
