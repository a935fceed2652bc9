# SPDX-License-Identifier: BSD-2-Clause
"""RFC 4861, 7.2.4: by multicast and by unicast; duplicate address detection is answered to all nodes."""

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


ALL = dict(dst="ff02::1", mac="33:33:00:00:00:01", solicited=0)
IN = [
    solicit("fd82::200"),
    solicit("fd82::200", dst="fd82::200", mac=US),
    solicit("fd82::200", option=False),
    solicit("fd82::200", src="::", option=False),
    solicit("fd82:1::9"),
    solicit("fd82::200") / Padding(bytes(7)),
]
OUT = [
    advertise("fd82::200"),
    advertise("fd82::200"),
    advertise("fd82::200"),
    advertise("fd82::200", **ALL),
    advertise("fd82:1::9"),
    advertise("fd82::200"),
]
LINES = [reply(i) for i in range(6)]
