# SPDX-License-Identifier: BSD-2-Clause
"""Unannounced targets, and what RFC 4861, 7.1.1 calls invalid."""

from icmp_words import *

def solicit(target, src="fd82::1", dst=None, mac=None, hlim=255, option=True, **fields):
    low = bytes.fromhex(f"{int(target.split(':')[-1], 16):06x}")
    group = f"ff02::1:ff{low[0]:02x}:{low[1] << 8 | low[2]:x}"
    frame = Ether(src=SENDER, dst=mac or "33:33:ff:" + low.hex(":")) / IPv6(src=src, dst=dst or group, hlim=hlim)
    frame /= ICMPv6ND_NS(tgt=target, **fields)
    return frame / ICMPv6NDOptSrcLLAddr(lladdr=SENDER) if option else frame


def advertise(target, dst="fd82::1", mac=SENDER, solicited=1):
    return (
        Ether(src=US, dst=mac)
        / IPv6(src=target, dst=dst, hlim=255)
        / ICMPv6ND_NA(R=0, S=solicited, O=1, tgt=target)
        / ICMPv6NDOptDstLLAddr(lladdr=US)
    )


IN = [
    solicit("2001:db8:113::10"),
    solicit("2001:db8:113::10", dst="2001:db8:113::10", mac=US),
    solicit("fd82::11"),
    solicit("fd82::200", hlim=64),
    solicit("fd82::200", code=1),
    solicit("fd82::200", cksum=0x1234),
    solicit("fd82::200", dst="ff02::1"),
    solicit("fd82::200", src="::"),
    solicit("fd82::200", option=False) / Raw(b"\x0e\0" + bytes(6)),
    Ether(bytes(solicit("fd82::200"))[:70]),
]
OUT = []
LINES = [HOST] * len(IN)
