# SPDX-License-Identifier: BSD-2-Clause
"""What was damaged on the way is not made good: the backend judges."""

from golden import *

WHOLE = in4(id=77, flags=0) / UDP(sport=4000, dport=53) / Raw(DATA[:2000])
BAD = bytearray(bytes(fixed(WHOLE)))
BAD[24] ^= 0x10
IN = [Ether(bytes(BAD))]
LINES = [dict(verdict="tx", backend="b4", out=[0, 1])]
LINES_XDP = [drop("too_big")]


def check(lines, frames):
    for frame in frames:
        packet = IP(frame[34:])
        stated, packet.chksum = packet.chksum, None
        assert stated != IP(bytes(packet)).chksum
