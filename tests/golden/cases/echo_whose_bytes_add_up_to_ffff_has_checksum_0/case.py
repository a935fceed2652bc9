# SPDX-License-Identifier: BSD-2-Clause
"""The other end of the carry: the sum is 0xffff without being zero."""

from icmp_words import *

IN = [in4() / ICMP(id=0, seq=0) / Raw(b"\xff\xff"), in4() / ICMP(id=0, seq=0) / Raw(b"\x80\0\x7f\xff" + bytes(900))]
OUT = [answer(frame) for frame in IN]
LINES = [reply(i) for i in range(len(IN))]


def check(lines, frames):
    assert all(frame[34:38] == b"\0\0\0\0" for frame in frames)
