# SPDX-License-Identifier: BSD-2-Clause
"""An all-zero answer adds up to zero: its checksum is 0xffff, where RFC 1624 alone gives 0."""

from icmp_words import *

IN = [in4() / ICMP(id=0, seq=0) / Raw(bytes(length)) for length in (0, 1, 8, 600)]
OUT = [answer(frame) for frame in IN]
LINES = [reply(i) for i in range(len(IN))]


def check(lines, frames):
    assert all(frame[34:38] == b"\0\0\xff\xff" for frame in frames)
