# SPDX-License-Identifier: BSD-2-Clause
"""The words of golden cases about ICMP, ARP and neighbour discovery; and all those of golden.py."""

from golden import *
from scapy.layers.inet import IPOption_LSRR, IPOption_RR, IPOption_SSRR
from scapy.layers.inet6 import (
    ICMPv6DestUnreach,
    ICMPv6EchoReply,
    ICMPv6ND_NA,
    ICMPv6ND_NS,
    ICMPv6NDOptDstLLAddr,
    ICMPv6NDOptSrcLLAddr,
    ICMPv6PacketTooBig,
    ICMPv6ParamProblem,
    ICMPv6TimeExceeded,
)

ROUTER4, ROUTER6 = "192.0.2.99", "2001:db8:99::99"
US, SENDER = TO_BACKEND["src"], FROM_ROUTER["src"]


def reply(position=0, **more):
    return dict(verdict="reply", out=[position], reason=None, **more)


def answer(frame):
    """What the balancer says to an echo request (RFC 792, RFC 4443): addresses turned round, TTL or hop limit 64."""
    frame = Ether(bytes(frame))
    frame.src, frame.dst = frame.dst, frame.src
    if IP in frame:
        packet = frame[IP]
        packet.ttl = 64
        packet[ICMP].type = 0
        del packet.chksum
        del packet[ICMP].chksum
    else:
        packet = frame[IPv6]
        packet.hlim = 64
        request = packet[ICMPv6EchoRequest]
        change = ICMPv6EchoReply(id=request.id, seq=request.seq, data=request.data)
        request.underlayer.remove_payload()
        packet.lastlayer().add_payload(change)
    packet.src, packet.dst = packet.dst, packet.src
    if Padding in frame:
        frame[Padding].underlayer.remove_payload()
    return Ether(bytes(frame))


def too_big(frame, mtu):
    """
    Fragmentation needed (RFC 1191) or packet too big (RFC 4443) from the service address, for this frame: as much of it as
    makes 576 or 1280 bytes.
    """
    back = Ether(bytes(frame))
    packet, quote = back[IPv6] if IPv6 in back and IP not in back else back[IP], inner(frame)
    back.src, back.dst = back.dst, back.src
    if isinstance(packet, IPv6):
        said = IPv6(src=packet.dst, dst=packet.src, hlim=64) / ICMPv6PacketTooBig(mtu=mtu) / Raw(quote[: 1280 - 48])
    else:
        said = (
            IP(src=packet.dst, dst=packet.src, ttl=64, tos=0, id=0, flags="DF")
            / ICMP(type=3, code=4, nexthopmtu=mtu)
            / Raw(quote[: 576 - 28])
        )
    packet.underlayer.remove_payload()
    return Ether(bytes(back / said))


def said4(quote, type=3, code=3, dst=VIP4, length=28, **fields):
    """An error from a router about a packet of the service, quoted as IP header and 8 bytes unless told otherwise."""
    return in4(src=ROUTER4, dst=dst, flags="DF") / ICMP(type=type, code=code, **fields) / Raw(bytes(quote)[:length])


def said6(quote, kind=ICMPv6DestUnreach, dst=VIP6, length=48, **fields):
    return in6(src=ROUTER6, dst=dst) / kind(**fields) / Raw(bytes(quote)[:length])


def from4(layer, src=VIP4, dst=CLIENT4, **fields):
    """A packet from the service to the client, as it is quoted."""
    return IP(src=src, dst=dst, **fields) / layer


def from6(layer, src=VIP6, dst=CLIENT6, **fields):
    return IPv6(src=src, dst=dst, **fields) / layer
