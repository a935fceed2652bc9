# SPDX-License-Identifier: BSD-2-Clause
"""
The words of a golden case. A case is a folder below cases/ with a case.py:

    IN      frames that come in (scapy); a tuple (seconds, frame) sets the capture's clock
    OUT     frames that must leave, byte for byte, in order
    LINES   one dict a frame: the fields of guideway-replay's line that must be so
    DOWN    backends taken away (optional)     MTU   of the egress link (optional)
    OUT_XDP, LINES_XDP   only where packets.md allows the paths to differ

and, if it needs one, a config.yaml. What must leave is written from the RFCs and packets.md by means of scapy, never
taken from the program's own output.
"""

from scapy.config import conf
from scapy.layers.inet import ICMP, IP, TCP, UDP, IPOption_NOP, IPOption_Timestamp
from scapy.layers.inet6 import (
    ICMPv6EchoRequest,
    IPv6,
    IPv6ExtHdrDestOpt,
    IPv6ExtHdrFragment,
    IPv6ExtHdrHopByHop,
    IPv6ExtHdrRouting,
    PadN,
)
from scapy.layers.l2 import ARP, Dot1AD, Dot1Q, Ether
from scapy.layers.sctp import SCTP
from scapy.packet import Padding, Raw

conf.verb = 0

CLIENT4, CLIENT6 = "198.51.100.7", "2001:db8:c::7"
VIP4, VIP6 = "203.0.113.10", "2001:db8:113::10"
LB4, LB6 = "10.82.0.11", "fd82::11"
B4, B6 = "10.82.0.101", "fd82::101"
FROM_ROUTER = dict(src="02:00:00:00:00:09", dst="02:00:00:00:00:02")
TO_BACKEND = dict(src="02:00:00:00:00:02", dst="02:00:00:00:00:01")


def eth(**fields):
    """The Ethernet header of a frame that comes in."""
    return Ether(**{**FROM_ROUTER, **fields})


def in4(dst=VIP4, src=CLIENT4, **fields):
    return eth() / IP(src=src, dst=dst, **fields)


def in6(dst=VIP6, src=CLIENT6, **fields):
    return eth() / IPv6(src=src, dst=dst, **fields)


def fixed(frame):
    """The frame as it is on the wire: lengths and checksums computed."""
    return Ether(bytes(frame))


def inner(frame):
    """The IP packet of a frame, without link layer and padding."""
    layer = fixed(frame)
    packet = layer[IPv6] if IPv6 in layer and not (IP in layer and layer.type == 0x800) else layer[IP]
    length = packet.plen + 40 if isinstance(packet, IPv6) else packet.len
    return bytes(packet)[:length]


def outer4(payload, proto, backend=B4, tos=0, flags="DF", ident=0):
    return Ether(**TO_BACKEND) / IP(
        src=LB4, dst=backend, ttl=64, proto=proto, tos=tos, flags=flags, id=ident
    ) / Raw(payload)


def outer6(payload, nh, backend=B6, tc=0):
    return Ether(**TO_BACKEND) / IPv6(src=LB6, dst=backend, hlim=64, nh=nh, tc=tc, fl=0) / Raw(payload)


def tx(backend, position=0, **more):
    return dict(verdict="tx", backend=backend, out=[position], reason=None, **more)


def drop(reason, **more):
    return dict(verdict="drop", reason=reason, out=[], **more)


HOST = dict(verdict="host", out=[], service=None)
