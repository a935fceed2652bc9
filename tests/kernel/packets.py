# SPDX-License-Identifier: BSD-2-Clause
"""The packets that clients send to each service of tunnels.yaml, and frames that no kernel may take."""

import random

from scapy.config import conf
from scapy.layers.inet import IP, TCP, UDP, IPOption_NOP, IPOption_Timestamp, fragment
from scapy.layers.inet6 import IPv6, IPv6ExtHdrDestOpt, IPv6ExtHdrFragment, IPv6ExtHdrHopByHop, PadN, fragment6
from scapy.layers.l2 import Ether
from scapy.layers.sctp import SCTP, SCTPChunkInit
from scapy.packet import Raw

conf.verb = 0

# service: (last part of its address, the guest's device that unpacks IPv4 inside, the same for IPv6)
WAYS = {
    "ipip4": (1, "ipip", "sit"),
    "ipip6": (2, "ip6tnl", "ip6tnl"),
    "gue4": (3, "ipip", "sit"),
    "gue6": (4, "ip6tnl", "ip6tnl"),
    "gue6zero": (5, "ip6tnl", "ip6tnl"),
    "gre4": (6, "gre", "gre"),
    "gre6": (7, "ip6gre", "ip6gre"),
    "l24": (8, "lb", "lb"),
    "l26": (9, "lb", "lb"),
    "entropy4": (10, "ipip", "sit"),
    "entropy6": (11, "ip6tnl", "ip6tnl"),
}
PORT = 5000  # where the guest has a UDP socket
SIZES = 24  # random ones
LARGEST = 1500 - 48  # what goes into GUE over IPv6 on a link of 1500 bytes


def _bytes(length, seed):
    return random.Random(seed).randbytes(length)


def _ipv4(way):
    """(destination, packets): one of each kind that IPv4 knows."""
    head = dict(src=f"198.51.100.{way + 1}", dst=f"203.0.113.{way}")
    for ecn in range(4):
        yield IP(**head, flags="DF", tos=0xB8 | ecn) / TCP(sport=40000 + ecn, dport=80, flags="S")
    yield IP(**head, id=0x1234) / TCP(sport=40010, dport=80, flags="A") / Raw(_bytes(333, 1))
    yield IP(**head, flags="DF", ttl=1) / TCP(sport=40011, dport=443, flags="FA")
    options = [IPOption_NOP(), IPOption_NOP(), IPOption_NOP(), IPOption_NOP(), IPOption_Timestamp(length=8, pointer=5, flg=0)]
    yield IP(**head, options=options) / TCP(sport=40012, dport=80, flags="S")
    yield IP(**head) / UDP(sport=40013, dport=PORT) / Raw(b"")
    yield IP(**head) / UDP(sport=40014, dport=PORT, chksum=0) / Raw(_bytes(77, 2))
    yield IP(**head, flags="DF") / SCTP(sport=40015, dport=80) / SCTPChunkInit(init_tag=7)
    yield IP(**head, proto=99) / Raw(_bytes(41, 3))


def _ipv6(way):
    head = dict(src=f"2001:db8:c::{way + 1:x}", dst=f"2001:db8:113::{way:x}")
    for ecn in range(4):
        yield IPv6(**head, tc=0x28 | ecn, fl=0x12345) / TCP(sport=41000 + ecn, dport=80, flags="S")
    yield IPv6(**head) / TCP(sport=41010, dport=80, flags="A") / Raw(_bytes(333, 4))
    yield IPv6(**head, hlim=1) / TCP(sport=41011, dport=443, flags="FA")
    padding = [PadN(optdata=b"\0" * 4)]
    chain = IPv6ExtHdrHopByHop(options=padding) / IPv6ExtHdrDestOpt(options=padding)
    yield IPv6(**head) / chain / UDP(sport=41012, dport=PORT) / Raw(_bytes(55, 5))
    yield IPv6(**head) / IPv6ExtHdrFragment(offset=0, m=0, id=9) / UDP(sport=41013, dport=PORT) / Raw(_bytes(56, 6))
    yield IPv6(**head) / UDP(sport=41014, dport=PORT) / Raw(b"")
    yield IPv6(**head) / SCTP(sport=41015, dport=80) / SCTPChunkInit(init_tag=8)
    yield IPv6(**head, nh=99) / Raw(_bytes(41, 7))


def _sizes(way):
    """UDP datagrams of many lengths, odd ones too, and the longest that every way can carry."""
    chosen = random.Random(way)
    for size in [LARGEST - 48, LARGEST - 49] + [chosen.randrange(LARGEST - 48) for _ in range(SIZES)]:
        ports = dict(sport=chosen.randrange(1024, 65536), dport=PORT)
        data = Raw(_bytes(size, size))
        yield IP(src="198.51.100.77", dst=f"203.0.113.{way}", flags="DF") / UDP(**ports) / data
        yield IPv6(src="2001:db8:c::77", dst=f"2001:db8:113::{way:x}") / UDP(**ports) / data


def frame(packet):
    """The frame in which a packet's bytes come in, short ones padded by Ethernet."""
    kind = 0x0800 if packet[0] >> 4 == 4 else 0x86DD
    data = bytes(Ether(src="02:00:00:00:00:09", dst="02:00:00:00:00:02", type=kind)) + packet
    return data + b"\xee" * (60 - len(data))


def clients():
    """(service, device, inner packet's bytes) of everything that clients send."""
    for service, (way, device4, device6) in WAYS.items():
        for packet in [*_ipv4(way), *_ipv6(way), *_sizes(way)]:
            yield service, device4 if isinstance(packet, IP) else device6, bytes(packet)


def pieces():
    """(service, device, packets' bytes, the datagram's payload, paths) of datagrams that travel in pieces: cut by the
    client, and, last of a service, cut by the balancer because the tunnel leaves less room than the link."""
    both = ("dpdk", "xdp")
    for service, (way, device4, device6) in WAYS.items():
        ports, data = dict(sport=43000, dport=PORT), _bytes(3000, way)
        head4 = dict(src=f"198.51.100.{way + 1}", dst=f"203.0.113.{way}", flags=0)
        head6 = dict(src=f"2001:db8:c::{way + 1:x}", dst=f"2001:db8:113::{way:x}")
        whole4 = IP(**head4, id=0x4000 + way) / UDP(**ports) / Raw(data)
        whole6 = IPv6(**head6) / IPv6ExtHdrFragment(id=way) / UDP(**ports) / Raw(data)
        yield service, device4, [bytes(piece) for piece in fragment(whole4, 1200)], data, both
        yield service, device6, [bytes(piece) for piece in fragment6(whole6, 1280)], data, both
        if device4 != "lb":
            full = _bytes(1500 - 28, way)
            large = IP(**head4, id=0x5000 + way) / UDP(**ports) / Raw(full)
            yield service, device4, [bytes(large)], full, ("dpdk",)


def udp_checksum_of_zero(measured):
    """An IPv4 packet in GUE over IPv6 whose outer UDP checksum comes out as 0, which is sent as 0xffff. Of the same
    packet with two zero bytes at its end the checksum is `measured`; without it: that packet."""
    head = dict(src="198.51.100.99", dst=f"203.0.113.{WAYS['gue6'][0]}", flags="DF")
    data = _bytes(50, 8) + (measured or 0).to_bytes(2, "big")
    return bytes(IP(**head) / UDP(sport=42000, dport=PORT, chksum=0) / Raw(data))


def payload(packet):
    """What a socket on PORT gets of the packet, None when it is no datagram for it."""
    layer = IP(packet) if packet[0] >> 4 == 4 else IPv6(packet)
    if UDP not in layer or layer[UDP].dport != PORT:
        return None
    return bytes(layer[UDP].payload)


def _flip(data, at):
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]


def spoil(sent):
    """{what is wrong: (frame, the counter that must rise or None)}, from one good frame of each service."""
    inner4, inner6 = 14 + 20, 14 + 40
    return {
        "outer IPv4 checksum": (_flip(sent["ipip4"], 14 + 10), "IpInHdrErrors"),
        "outer IPv4 checksum around UDP": (_flip(sent["gue4"], 14 + 10), "IpInHdrErrors"),
        "UDP checksum over IPv6": (_flip(sent["gue6"], inner6 + 7), "Udp6InCsumErrors"),
        "a byte in UDP over IPv6": (_flip(sent["gue6"], len(sent["gue6"]) - 1), "Udp6InCsumErrors"),
        "outer source in UDP over IPv6": (_flip(sent["entropy6"], 14 + 8 + 15), "Udp6InCsumErrors"),
        "GRE with a checksum that is none": (
            sent["gre4"][:inner4] + b"\x80" + sent["gre4"][inner4 + 1 :], None),
        "GRE of an unknown version": (_flip(sent["gre6"], inner6 + 1), None),
        "another machine's MAC": (_flip(sent["ipip6"], 5), None),
        "another backend's address": (_flip(sent["ipip6"], inner6 - 1), None),
    }  # fmt: skip


def spoil_inside(frame4):
    """The frame of a TCP segment in 4in4 with the segment's checksum wrong: unpacked, then refused by TCP."""
    return _flip(frame4, 14 + 20 + 20 + 17)
