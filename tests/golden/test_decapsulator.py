#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Golden cases of the decapsulator: frames in, and what the stack sees, or the counter that tells of the drop.

Each case runs through both programs, attached by guideway-decap to lo of a namespace, by BPF test runs. What must
come out is made by scapy and by the tables of RFC 6040, never taken from the program.
"""

import dataclasses
import json
import os
import subprocess

import pytest
from golden import IP, TCP, UDP, Ether, IPOption_NOP, IPv6, IPv6ExtHdrDestOpt, Raw, fixed
from replay import BUILD

MACS = dict(dst="00:00:00:00:00:00", src="02:00:00:00:00:02")  # lo's address is all zeros: to this host
LB, BACKEND = {4: "10.82.0.11", 6: "fd82::11"}, {4: "10.82.0.101", 6: "fd82::101"}
STRANGER = {4: "10.82.9.9", 6: "fd82:9::9"}
GUE_PORT = 5555
FAMILIES = [(outer, inner) for outer in (4, 6) for inner in (4, 6)]
MODES = ("ipip", "gue", "gre")
TC_NEXT, TC_DROP, XDP_DROP, XDP_PASS = 0xFFFFFFFF, 2, 1, 2


@dataclasses.dataclass
class Case:
    """`out`: the frame that goes on, None for a drop under `counter`; counter None: the stack's own packet."""

    name: str
    frame: bytes
    out: bytes
    counter: str
    also: tuple = ()


def client_packet(family, ecn=0, size=33, dscp=0x88):
    if family == 4:
        ip = IP(src="198.51.100.7", dst="203.0.113.10", tos=dscp | ecn, ttl=61, id=0x1234, flags="DF")
    else:
        ip = IPv6(src="2001:db8:c::7", dst="2001:db8:113::10", tc=dscp | ecn, hlim=61, fl=0x5ABCD)
    return bytes(ip / TCP(sport=40000, dport=80, flags="PA") / Raw(bytes(i * 7 & 0xFF for i in range(size))))


def outer_ip(family, protocol, ecn=0, source=None, **fields):
    source = source or LB[family]
    if family == 4:
        return IP(src=source, dst=BACKEND[4], proto=protocol, tos=0x88 | ecn, ttl=64, **fields)
    return IPv6(src=source, dst=BACKEND[6], nh=protocol, tc=0x88 | ecn, hlim=64, **fields)


def udp(packet, family, dport=GUE_PORT, **fields):
    if family == 4:
        fields.setdefault("chksum", 0)
    return UDP(sport=0xC123, dport=dport, **fields) / Raw(packet)


def gre(packet, word=0, kind=None, more=b""):
    kind = kind if kind is not None else 0x0800 if packet[0] >> 4 == 4 else 0x86DD
    return Raw(word.to_bytes(2, "big") + kind.to_bytes(2, "big") + more + packet)


def tunnel(mode, outer, packet, ecn=0, source=None, **ip):
    """A whole frame as a balancer sends it."""
    if mode == "ipip":
        header = outer_ip(outer, 4 if packet[0] >> 4 == 4 else 41, ecn, source, **ip)
        return bytes(Ether(**MACS) / header / Raw(packet))
    if mode == "gue":
        return bytes(Ether(**MACS) / outer_ip(outer, 17, ecn, source, **ip) / udp(packet, outer))
    return bytes(Ether(**MACS) / outer_ip(outer, 47, ecn, source, **ip) / gre(packet))


def bare(packet):
    return bytes(Ether(**MACS, type=0x0800 if packet[0] >> 4 == 4 else 0x86DD) / Raw(packet))


def taken(name, mode, outer, packet, frame=None, out=None, also=()):
    counter = f"decap_{packet[0] >> 4}in{outer}"
    more = () if mode == "ipip" else (mode,)
    frame = frame or tunnel(mode, outer, packet)
    return Case(name, frame, out or bare(packet), counter, more + tuple(also))


def dropped(name, counter, frame):
    return Case(name, bytes(frame), None, counter)


def stacks(name, frame):
    return Case(name, bytes(frame), bytes(frame), None)


# RFC 6040, figure 4: rows are the inner field, columns the outer: not-ECT, ECT(1), ECT(0), CE = 0, 1, 2, 3.
RFC6040 = {0: [0, 0, 0, None], 1: [1, 1, 1, 3], 2: [2, 1, 2, 3], 3: [3, 3, 3, 3]}


def ecn_cases():
    for outer, inner in FAMILIES:
        mode = MODES[(outer + inner) // 2 % 3]
        for inner_ecn, row in RFC6040.items():
            for outer_ecn, result in enumerate(row):
                frame = tunnel(mode, outer, client_packet(inner, inner_ecn), outer_ecn)
                name = f"ecn_{inner_ecn}_in_{outer_ecn}_{mode}_{inner}in{outer}"
                if result is None:
                    yield dropped(name, "ecn_not_ect", frame)
                    continue
                packet = client_packet(inner, result)
                also = ("ce_copied",) if outer_ecn == 3 and inner_ecn != 3 else ()
                yield taken(name, mode, outer, packet, frame, also=also)


def family_cases():
    for mode in MODES:
        for outer, inner in FAMILIES:
            yield taken(f"{mode}_{inner}in{outer}", mode, outer, client_packet(inner))
            frame = tunnel(mode, outer, client_packet(inner), source=STRANGER[outer])
            yield dropped(f"a_stranger_{mode}_{inner}in{outer}", "not_allowed", frame)
        for size in (0, 1, 2, 3, 471, 472, 473, 1399, 1400):
            yield taken(f"{mode}_{size}_bytes_4in6", mode, 6, client_packet(4, size=size))


def length_cases():
    for mode in MODES:
        for outer in (4, 6):
            whole = tunnel(mode, outer, client_packet(4))
            yield taken(f"{mode}_over_{outer}_padding_is_left", mode, outer, client_packet(4), whole + bytes(9),
                        bare(client_packet(4)) + bytes(9))
            yield dropped(f"{mode}_over_{outer}_cut_short", "malformed", whole[:-1])
            inner = bytearray(client_packet(4))
            inner[3] += 1  # one byte more than the outer header leaves
            yield dropped(f"{mode}_over_{outer}_inner_too_long", "malformed", tunnel(mode, outer, bytes(inner)))
            inner[0] = 0x44
            yield dropped(f"{mode}_over_{outer}_inner_ihl_4", "malformed", tunnel(mode, outer, bytes(inner)))


def gue_cases():
    packet = client_packet(4)
    for outer in (4, 6):
        link, ip = Ether(**MACS), outer_ip(outer, 17)
        for nibble in (0, 1, 3, 5, 7, 15):
            bad = bytes([nibble << 4 | 5]) + packet[1:]
            yield dropped(f"gue_over_{outer}_version_{nibble}", "malformed", link / ip / udp(bad, outer))
        yield dropped(f"gue_over_{outer}_empty", "malformed", link / ip / udp(b"", outer))
        yield stacks(f"gue_over_{outer}_another_port", link / ip / udp(packet, outer, dport=6080))
        yield stacks(f"gue_over_{outer}_from_the_port", link / ip / UDP(sport=GUE_PORT, dport=53) / Raw(packet))
        yield dropped(f"gue_over_{outer}_udp_length_7", "malformed", link / ip / udp(packet, outer, len=7))
        yield dropped(
            f"gue_over_{outer}_udp_longer_than_ip",
            "malformed",
            link / ip / udp(packet, outer, len=len(packet) + 9, chksum=0),
        )
        yield dropped(f"gue_over_{outer}_wrong_checksum", "udp_checksum", link / ip / udp(packet, outer, chksum=0x1234))
        right = fixed(link / ip / udp(packet, outer, chksum=None))
        assert right[UDP].chksum
        yield taken(f"gue_over_{outer}_right_checksum", "gue", outer, packet, bytes(right))
        flipped = bytearray(bytes(right))
        flipped[-1] ^= 1
        yield dropped(f"gue_over_{outer}_a_flipped_bit", "udp_checksum", flipped)
        yield taken(f"gue_over_{outer}_zero_checksum", "gue", outer, packet, bytes(link / ip / udp(packet, outer, chksum=0)))
    yield taken("gue_checksum_0xffff", "gue", 6, *all_ones())


def all_ones():
    """A packet whose UDP checksum comes out as zero, sent as 0xffff."""
    for number in range(65536):
        packet = client_packet(4) [:-2] + number.to_bytes(2, "big")
        frame = Ether(**MACS) / outer_ip(6, 17) / udp(packet, 6)
        sum_of = fixed(frame)[UDP].chksum
        # the two bytes end at an odd place or an even one: step to the sum that is wanted
        wanted = (number + sum_of) % 0xFFFF if len(packet) % 2 == 0 else None
        if wanted is not None:
            packet = packet[:-2] + wanted.to_bytes(2, "big")
        else:
            swapped = (sum_of >> 8 | (sum_of & 0xFF) << 8)
            packet = packet[:-2] + (swapped % 0xFFFF).to_bytes(2, "big")
        frame = fixed(Ether(**MACS) / outer_ip(6, 17) / udp(packet, 6))
        if frame[UDP].chksum == 0xFFFF:
            return packet, bytes(frame)
    raise AssertionError("no such packet")


def gre_cases():
    packet = client_packet(4)
    for outer in (4, 6):
        link, ip = Ether(**MACS), outer_ip(outer, 47)
        for name, word, more in (("checksum", 0x8000, bytes(4)), ("key", 0x2000, bytes(4)), ("sequence", 0x1000, bytes(4)), ("version_1", 1, bytes(4))):
            yield stacks(f"gre_over_{outer}_with_{name}", link / ip / gre(packet, word, more=more))
        yield stacks(f"gre_over_{outer}_ethernet_inside", link / ip / gre(packet, kind=0x6558))
        yield dropped(f"gre_over_{outer}_type_denied_by_version", "malformed", link / ip / gre(packet, kind=0x86DD))
        yield stacks(f"gre_over_{outer}_no_header", link / ip / Raw(b"\0\0\x08"))


def header_cases():
    packet = client_packet(4)
    options = [IPOption_NOP()] * 8
    for mode in MODES:
        yield taken(f"{mode}_outer_options_go", mode, 4, packet, tunnel(mode, 4, packet, options=options))
        for name, fields in (("first", dict(flags="MF")), ("later", dict(frag=1))):
            frame = tunnel(mode, 4, packet, **fields)
            if mode != "ipip" and name == "later":  # no port, no type: whose it is cannot be known
                yield stacks(f"{mode}_later_outer_fragment", frame)
            else:
                yield dropped(f"{mode}_{name}_outer_fragment", "outer_fragment", frame)
        yield dropped(f"{mode}_wrong_outer_checksum", "outer_checksum", tunnel(mode, 4, packet, chksum=1))
    inner = IP(src="198.51.100.7", dst="203.0.113.10", options=options) / TCP(sport=40000, dport=80)
    yield taken("inner_options_stay", "gue", 6, bytes(inner))
    extended = IPv6(src="2001:db8:c::7", dst="2001:db8:113::10") / IPv6ExtHdrDestOpt() / TCP(sport=40000, dport=80)
    yield taken("inner_extension_headers_stay", "gre", 6, bytes(extended))
    yield stacks("a_tcp_packet", Ether(**MACS) / outer_ip(4, 6) / TCP(sport=1, dport=GUE_PORT))
    yield stacks("outer_extension_header", Ether(**MACS) / outer_ip(6, 60) / Raw(bytes(8) + packet))
    yield stacks("not_ip", Ether(**MACS, type=0x0806) / Raw(bytes(28)))


CASES = [*family_cases(), *length_cases(), *gue_cases(), *gre_cases(), *header_cases(), *ecn_cases()]


def test_names_are_unique():
    assert len({case.name for case in CASES}) == len(CASES) > 150


class Attached:
    """guideway-decap on lo of a namespace of its own."""

    def __init__(self, hook, folder):
        self.name = f"gwdecap{os.getpid()}{hook[:3]}"
        self.pins = f"/sys/fs/bpf/{self.name}"
        self.hook, self.folder = hook, folder
        subprocess.run(["ip", "netns", "add", self.name], check=True)

    def decap(self, *words):
        # nsenter, because ip netns exec would put another /sys in place of the one with the pins
        command = ["nsenter", f"--net=/run/netns/{self.name}", BUILD / "tools" / "decap" / "guideway-decap"]
        done = subprocess.run([*command, *words, "--pin-dir", self.pins], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def attach(self):
        sources = [word for prefix in (LB[4], "fd82::/120") for word in ("--from", prefix)]
        self.decap("attach", "lo", *sources, "--hook", self.hook, "--gue-port", str(GUE_PORT))
        shown = json.loads(bpftool("link", "show", "pinned", f"{self.pins}/lo/link", "-j"))
        self.program = str(shown["prog_id"])

    def counters(self):
        shown = json.loads(self.decap("stats", "lo", "--json"))[0]
        return {**shown["packets"], **shown["drops"]}

    def run(self, frame):
        """(verdict, frame that goes on)."""
        source, sink = self.folder / "in", self.folder / "out"
        source.write_bytes(frame)
        told = bpftool("prog", "run", "id", self.program, "data_in", source, "data_out", sink, "-j")
        return json.loads(told)["retval"], sink.read_bytes()

    def remove(self):
        subprocess.run(["rm", "-rf", self.pins], check=False)
        subprocess.run(["ip", "netns", "del", self.name], check=False)


def bpftool(*words):
    return subprocess.run(["bpftool", *words], capture_output=True, text=True, check=True).stdout


@pytest.fixture(scope="module", params=["tcx", "xdp-generic"])
def attached(request, tmp_path_factory):
    made = Attached(request.param, tmp_path_factory.mktemp("decap"))
    try:
        made.attach()
        yield made
    finally:
        made.remove()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_case(attached, case):
    before = attached.counters()
    verdict, out = attached.run(case.frame)
    after = attached.counters()
    xdp = attached.hook.startswith("xdp")
    if case.out is None:
        assert verdict == (XDP_DROP if xdp else TC_DROP)
    else:
        assert verdict == (XDP_PASS if xdp else TC_NEXT)
        assert out.hex() == case.out.hex()
    counted = {name for name in after if after[name] != before[name]}
    assert counted == ({case.counter, *case.also} if case.counter else set())
    assert all(after[name] == before[name] + 1 for name in counted)
