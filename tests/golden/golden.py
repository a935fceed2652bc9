# SPDX-License-Identifier: BSD-2-Clause
"""
The words of a golden case. A case is a folder below cases/ with a case.py:

    IN      frames that come in (scapy); a tuple (seconds, frame) sets the capture's clock
    OUT     frames that must leave, byte for byte, in order
    LINES   one dict a frame: the fields of guideway-replay's line that must be so
    DOWN    backends taken away (optional)     MTU   of the egress link (optional)
    WAYS    of each tunnel's next hop (optional)
    OUT_XDP, LINES_XDP   only where packets.md allows the paths to differ

and, if it needs one, a config.yaml. What must leave is written from the RFCs and packets.md by means of scapy, never
taken from the program's own output.
"""

import ipaddress
import struct

import xxhash
from scapy.config import conf
from scapy.layers.inet import ICMP, IP, TCP, UDP, IPOption, IPOption_NOP, IPOption_Timestamp, fragment
from scapy.layers.inet6 import (
    ICMPv6EchoRequest,
    IPv6,
    IPv6ExtHdrDestOpt,
    IPv6ExtHdrFragment,
    IPv6ExtHdrHopByHop,
    IPv6ExtHdrRouting,
    PadN,
    fragment6,
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


def outer4(payload, proto, backend=B4, tos=0, flags="DF", ident=0, src=LB4):
    return Ether(**TO_BACKEND) / IP(
        src=src, dst=backend, ttl=64, proto=proto, tos=tos, flags=flags, id=ident
    ) / Raw(payload)


def outer6(payload, nh, backend=B6, tc=0):
    return Ether(**TO_BACKEND) / IPv6(src=LB6, dst=backend, hlim=64, nh=nh, tc=tc, fl=0) / Raw(payload)


def tx(backend, position=0, **more):
    return dict(verdict="tx", backend=backend, out=[position], reason=None, **more)


def drop(reason, **more):
    return dict(verdict="drop", reason=reason, out=[], **more)


HOST = dict(verdict="host", out=[], service=None)


def flow_hash(frame):
    """XXH3 of the frame's canonical key (design.md), by the library's own Python binding."""
    packet = fixed(frame)
    layer = packet[IPv6] if packet.type == 0x86DD else packet[IP]
    sport, dport, protocol = ports(layer)
    key = canonical(layer.src) + canonical(layer.dst) + struct.pack(">HHB3x", sport, dport, protocol)
    return xxhash.xxh3_64_intdigest(key, seed=0)


def canonical(address):
    packed = ipaddress.ip_address(address).packed
    return packed if len(packed) == 16 else bytes(10) + b"\xff\xff" + packed


def ports(layer):
    for kind, number in ((TCP, 6), (UDP, 17), (SCTP, 132)):
        if kind in layer:
            return layer[kind].sport, layer[kind].dport, number
    return 0, 0, layer.proto if isinstance(layer, IP) else layer.nh


def gue_port(frame):
    """The source port of a flow's GUE packets."""
    return 0xC000 | flow_hash(frame) >> 50


def gue4(frame, backend, dport=6080, **outer):
    """In UDP over IPv4, checksum 0."""
    udp = bytes(UDP(sport=gue_port(frame), dport=dport, len=8 + len(inner(frame)), chksum=0))
    return outer4(udp + inner(frame), proto=17, backend=backend, **outer)


def gue6(frame, backend, dport=6080, chksum=None, fl=0, src=LB6, tc=0):
    """In UDP over IPv6; the checksum is scapy's unless one is given."""
    ip = IPv6(src=src, dst=backend, hlim=64, tc=tc, fl=fl)
    return Ether(**TO_BACKEND) / ip / UDP(sport=gue_port(frame), dport=dport, chksum=chksum) / Raw(inner(frame))


def gre(frame):
    """GRE's header without options and what it carries (RFC 2784)."""
    return bytes.fromhex("00000800" if inner(frame)[0] >> 4 == 4 else "000086dd") + inner(frame)


def l2(frame):
    """The packet as it is, in a frame of our own."""
    return Ether(**TO_BACKEND, type=0x0800 if inner(frame)[0] >> 4 == 4 else 0x86DD) / Raw(inner(frame))


def cut4(frame, size):
    """The fragments of an IPv4 packet, with `size` bytes of payload each (a multiple of 8)."""
    return [eth() / piece for piece in fragment(fixed(frame)[IP], size)]


def cut6(frame, size):
    """The fragments of an IPv6 packet that has a fragment header, at most `size` bytes each."""
    return [eth() / piece for piece in fragment6(frame[IPv6], size)]


def ipip4(piece, datagram, backend=B4):
    """A fragment, DF clear, in IPv4: the outer id comes from the hash of its datagram's flow."""
    return outer4(inner(piece), proto=4, backend=backend, flags=0,
                  ident=fixed(piece)[IP].id ^ flow_hash(datagram) & 0xFFFF)


def held(backend, position, **more):
    """A later fragment that waited for its first."""
    return tx(backend, position, held=True, **more)


EARLY = drop("frag_early", held=False)
EXPIRED = drop("frag_expired", held=True)
DATA = bytes(range(256)) * 40
