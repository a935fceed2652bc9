# SPDX-License-Identifier: BSD-2-Clause
"""RFC 791: a stream id (copied) goes into every piece, a timestamp and NOPs only into the first."""

from golden import *

OPTIONS = bytes.fromhex("01 44080500 00000000 88040001 01 01 00".replace(" ", ""))  # NOP, timestamp, stream id, NOP, NOP, end
WHOLE = in4(id=77, flags=0, options=[IPOption(OPTIONS)]) / UDP(sport=4000, dport=53) / Raw(DATA[:2000])
PAYLOAD = inner(WHOLE)[20 + len(OPTIONS) :]
ROOM = (1480 - 20 - len(OPTIONS)) // 8 * 8
IP_FIELDS = dict(src=CLIENT4, dst=VIP4, id=77, proto=17)
FIRST = eth() / IP(**IP_FIELDS, flags="MF", options=[IPOption(OPTIONS)]) / Raw(PAYLOAD[:ROOM])
LATER = eth() / IP(**IP_FIELDS, frag=ROOM // 8, options=[IPOption(bytes.fromhex("88040001"))]) / Raw(PAYLOAD[ROOM:])
IN = [WHOLE]
OUT = [ipip4(FIRST, WHOLE), ipip4(LATER, WHOLE)]
LINES = [dict(verdict="tx", backend="b4", out=[0, 1])]
OUT_XDP = []
LINES_XDP = [drop("too_big")]
