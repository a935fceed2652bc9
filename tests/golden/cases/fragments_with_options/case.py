# SPDX-License-Identifier: BSD-2-Clause
"""The ports are behind the options; options stay."""

from golden import *

OPTION = IPOption(b"\x88\x04\x00\x01")  # stream id, copied into every fragment
WHOLE = in4(id=77, flags=0, options=[OPTION]) / UDP(sport=4000, dport=53) / Raw(DATA[:2000])
IN = cut4(WHOLE, 1200)
OUT = [ipip4(piece, WHOLE) for piece in IN]
LINES = [tx("b4", 0), tx("b4", 1)]
