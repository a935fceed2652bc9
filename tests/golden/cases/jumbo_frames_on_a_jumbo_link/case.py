# SPDX-License-Identifier: BSD-2-Clause
"""--mtu 9000: frames that XDP sees in several buffers, whole, in both families."""

from golden import *

MTU = 9000
SIZES = [3460, 3480, 3500, 3520, 4096, 7616, 8952, 8960]
V4 = [in4(id=77, flags=0) / UDP(sport=4000, dport=53) / Raw(DATA[: size - 28]) for size in SIZES]
V6 = [in6() / UDP(sport=4000, dport=53) / Raw(DATA[: size - 48]) for size in SIZES]
IN = V4 + V6
OUT = [ipip4(frame, frame) for frame in V4] + [outer4(inner(frame), proto=41) for frame in V6]
LINES = [tx("b4", i) for i in range(len(IN))]
