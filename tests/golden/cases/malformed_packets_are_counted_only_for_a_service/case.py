# SPDX-License-Identifier: BSD-2-Clause
"""Lengths and versions that contradict themselves; the same bytes for another address are the host's."""

from golden import *

def broken(dst):
    good = bytes(in4(dst=dst, flags="DF") / TCP(sport=40000, dport=80, flags="S"))

    def patch(offset, value):
        return good[:offset] + bytes([value]) + good[offset + 1 :]

    return [
        patch(14, 0x44),  # IHL 4
        patch(14, 0x4F),  # IHL 15: options reach behind the packet
        patch(16, 0xFF),  # total length longer than the frame
        patch(17, 19),  # total length shorter than the header
        patch(46, 0x40),  # TCP offset 4
        patch(46, 0xF0),  # TCP offset 15: behind the packet's end
        good[:40],  # cut off within TCP
    ]


IN = broken(VIP4) + broken("203.0.113.11")
OUT = []
LINES = [drop("malformed")] * 7 + [HOST] * 7
