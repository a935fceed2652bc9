# SPDX-License-Identifier: BSD-2-Clause
"""
A kernel that is not ours and has never seen our code takes what both datapaths send: Debian's, in qemu, with its own
tunnel devices. It also has to load our BPF programs. One boot (tests/kernel) for all of this file.
"""

import json
import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[1:1] = [f"{ROOT}/tests/kernel", f"{ROOT}/tests/golden"]

import guest  # noqa: E402
import packets  # noqa: E402
import replay  # noqa: E402

BUILD = replay.BUILD.resolve()
CONFIG = ROOT / "tests/kernel/tunnels.yaml"
FULL = bool(os.environ.get("GUIDEWAY_CHECK_FULL"))
SHARE = 60  # per cent of the verifier's limit that a program may use
OBJECTS = sorted(BUILD.glob("bpf/*.bpf.o")) + sorted(BUILD.glob("tests/kernel/*.bpf.o"))
UNIT = {"test_decap": "", "test_xdp_program": "" if FULL else "forwards"}
if FULL:
    UNIT["test_xdp_short_way"] = ""
ERRORS = (
    "IpInHdrErrors", "IpInAddrErrors", "UdpInErrors", "UdpInCsumErrors", "TcpInErrs", "TcpInCsumErrors",
    "Ip6InHdrErrors", "Ip6InAddrErrors", "Ip6InTruncatedPkts", "Udp6InErrors", "Udp6InCsumErrors",
)  # fmt: skip


def send(path, frames, folder):
    """The frames that the datapath makes of each frame."""
    lines, out = replay.replay(path, CONFIG, frames, folder)
    assert [line["verdict"] for line in lines] == ["tx"] * len(frames), path
    return [[out[index] for index in line["out"]] for line in lines]


class Seen:
    """What the guest said."""

    def __init__(self, lines):
        self.packets, self.datagrams, self.counters, self.programs, self.tests = {}, {}, {}, [], {}
        self.late = []
        for line in lines:
            word, _, rest = line.partition(" ")
            if word in ("good", "bad"):
                self.take(word, *rest.split(" "))
            elif word == "counter":
                batch, name, value = rest.split(" ")
                self.counters[batch, name] = int(value)
            elif word == "bpf":
                self.programs.append(json.loads(rest))
            elif word == "test":
                name, status, said = rest.split(" ", 2)
                self.tests[name] = (int(status), said)
            elif word == "release":
                self.release = rest

    def take(self, batch, kind, index="", *fields):
        if kind == "late":
            self.late.append(batch)
        elif kind == "packet":
            self.packets.setdefault((batch, int(index)), []).append((fields[0], bytes.fromhex(fields[1])))
        else:
            self.datagrams.setdefault((batch, int(index)), []).append(bytes.fromhex("".join(fields)))

    def unpacked(self, batch, index):
        """What came out of tunnels."""
        return [(device, data) for device, data in self.packets.get((batch, index), []) if device != "lb"]

    def rise(self, name):
        """By how much the bad frames raised a counter."""
        return self.counters["bad", name] - self.counters["good", name]


class Trip:
    """The frames of both datapaths, sent to the guest, and what it saw."""

    def __init__(self, folder):
        self.clients = list(packets.clients())
        self.pieces = list(packets.pieces())
        self.sent, self.sent_pieces, self.frames = {}, {}, {}
        for path in replay.PATHS:
            self.send(path, folder)
        self.clients.append(("gue6", "ip6tnl", self.zero))
        # The paths agree on almost all, and the guest need not see a frame twice.
        for path in replay.PATHS:
            for frame in [*self.sent[path], *(frame for group in self.sent_pieces[path] for frame in group)]:
                self.frames.setdefault(frame, len(self.frames))
        good = dict(zip((service for service, _, _ in self.clients), self.sent["dpdk"]))
        self.bad = packets.spoil(good)
        first4 = next(i for i, (service, _, _) in enumerate(self.clients) if service == "ipip4")
        self.inside = packets.spoil_inside(self.sent["dpdk"][first4])
        self.seen = Seen(self.boot(folder))

    def send(self, path, folder):
        zero = send(path, [packets.frame(packets.udp_checksum_of_zero(None))], folder)[0][0]
        self.zero = packets.udp_checksum_of_zero(int.from_bytes(zero[60:62], "big"))
        whole = [inner for _, _, inner in self.clients] + [self.zero]
        groups = [group if path in paths else [] for _, _, group, _, paths in self.pieces]
        cut = [inner for group in groups for inner in group]
        sent = send(path, [packets.frame(inner) for inner in whole + cut], folder)
        assert all(len(frames) == 1 for frames in sent[: len(whole)]), path
        self.sent[path] = [frames[0] for frames in sent[: len(whole)]]
        rest = iter(sent[len(whole) :])
        self.sent_pieces[path] = [[frame for _ in group for frame in next(rest)] for group in groups]

    def boot(self, folder):
        replay.write_capture(folder / "good.pcap", self.frames)
        replay.write_capture(folder / "bad.pcap", [frame for frame, _ in self.bad.values()] + [self.inside])
        files = {name: folder / name for name in ("good.pcap", "bad.pcap")}
        files |= {f"bpf/{path.name}": path for path in OBJECTS}
        files["ports"] = f"{packets.PORT}\n"
        files["tests"] = "".join(f"{name} {only}\n" for name, only in UNIT.items())
        programs = [BUILD / "tests/kernel" / name for name in ("decapsulate", "bpf_verify")]
        programs += [BUILD / "tests/unit" / name for name in UNIT]
        return guest.boot(BUILD / "guest", folder, programs, files)


@pytest.fixture(scope="module")
def trip(tmp_path_factory):
    try:
        guest.kernel(BUILD / "guest")
    except guest.NotAvailable as reason:
        if FULL:
            raise
        pytest.skip(f"Debian's kernel cannot be had: {reason}")
    return Trip(tmp_path_factory.mktemp("kernel"))


@pytest.mark.parametrize("path", replay.PATHS)
@pytest.mark.parametrize("service", packets.WAYS)
def test_the_kernel_hands_back_every_inner_packet_byte_for_byte(trip, service, path):
    wrong = []
    for (name, device, inner), frame in zip(trip.clients, trip.sent[path]):
        if name != service:
            continue
        index = trip.frames[frame]
        seen = trip.seen.packets.get(("good", index), []) if device == "lb" else trip.seen.unpacked("good", index)
        if seen != [(device, inner)]:
            wrong.append((frame.hex(), inner.hex(), [(where, data.hex()) for where, data in seen]))
    assert not wrong, f"{len(wrong)} packets, the first: sent, inner, seen: {wrong[0]}"


@pytest.mark.parametrize("path", replay.PATHS)
def test_sockets_behind_the_tunnels_get_every_datagram(trip, path):
    wanted, missing = 0, []
    for (service, _, inner), frame in zip(trip.clients, trip.sent[path]):
        data = packets.payload(inner)
        if data is None:
            continue
        wanted += 1
        if trip.seen.datagrams.get(("good", trip.frames[frame])) != [data]:
            missing.append((service, inner.hex()))
    assert not missing, f"{len(missing)} of {wanted}, the first: {missing[0]}"
    assert wanted > len(packets.WAYS) * packets.SIZES


@pytest.mark.parametrize("path", replay.PATHS)
def test_datagrams_in_pieces_are_whole_again_behind_the_tunnels(trip, path):
    for (service, device, inner, data, paths), frames in zip(trip.pieces, trip.sent_pieces[path]):
        if path not in paths:
            continue
        seen = [trip.seen.packets.get(("good", trip.frames[frame]), []) for frame in frames]
        unpacked = [packet for one in seen for packet in one if device == "lb" or packet[0] != "lb"]
        if len(inner) > 1:
            assert unpacked == [(device, piece) for piece in inner], service
        else:
            assert len(unpacked) == len(frames) == 2, service
        assert trip.seen.datagrams.get(("good", trip.frames[frames[-1]])) == [data], service


def test_no_checksum_or_header_was_wrong_to_the_kernels_eyes(trip):
    wrong = {name: trip.seen.counters["good", name] for name in ERRORS if trip.seen.counters["good", name]}
    assert not wrong
    devices = {name: value for (batch, name), value in trip.seen.counters.items() if batch == "good" and "." in name}
    bad = {name: value for name, value in devices.items() if value and not name.endswith(".rx_packets")}
    assert not bad
    assert not trip.seen.late


def test_tunnels_counted_the_packets_that_they_unpacked(trip):
    wanted = {}
    for index in trip.frames.values():
        for device, _ in trip.seen.unpacked("good", index):
            wanted[device] = wanted.get(device, 0) + 1
    assert set(wanted) == {"ipip", "sit", "ip6tnl", "gre", "ip6gre"}
    assert {device: trip.seen.counters["good", f"{device}.rx_packets"] for device in wanted} == wanted


@pytest.mark.parametrize("path", replay.PATHS)
def test_a_udp_checksum_of_zero_over_ipv6_is_sent_as_ones(trip, path):
    frame = trip.sent[path][-1]
    assert frame[60:62] == b"\xff\xff"
    assert trip.seen.unpacked("good", trip.frames[frame]) == [("ip6tnl", trip.zero)]


def test_the_kernel_refuses_spoilt_frames(trip):
    """Otherwise the tests above would show nothing."""
    risen = {}
    for index, (what, (_, counter)) in enumerate(trip.bad.items()):
        assert not trip.seen.unpacked("bad", index), what
        if counter:
            risen[counter] = risen.get(counter, 0) + 1
    assert {counter: trip.seen.rise(counter) for counter in risen} == risen


def test_tcp_refuses_a_spoilt_segment_in_a_good_tunnel_packet(trip):
    assert len(trip.seen.unpacked("bad", len(trip.bad))) == 1
    assert trip.seen.rise("TcpInCsumErrors") == 1


def check_verified(kernel, programs):
    """Writes what a kernel's verifier said to guest/verifier-KERNEL.json in the build and judges it."""
    report = BUILD / "guest" / f"verifier-{kernel}.json"
    report.parent.mkdir(exist_ok=True)
    report.write_text(json.dumps(programs, indent=1) + "\n")
    refused = [program for program in programs if "error" in program]
    assert not refused, "\n".join(f"{one['object']} {one['program']}: {one['error']}\n{one['log']}" for one in refused)
    assert {program["object"] for program in programs} == {path.name for path in OBJECTS}
    large = [program for program in programs if program["processed"] * 100 > program["limit"] * SHARE]
    assert not large, f"over {SHARE} % of the verifier's limit: {large}"


def test_every_program_loads_there_well_within_the_verifiers_limit(trip):
    check_verified(trip.seen.release, trip.seen.programs)


def test_every_program_loads_here_well_within_the_verifiers_limit():
    command = [BUILD / "tests/kernel/bpf_verify", *OBJECTS]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    check_verified(os.uname().release, [json.loads(line) for line in done.stdout.splitlines()])


def test_objects_of_two_compilers_were_tried():
    assert len(OBJECTS) % 2 == 0 and len({path.name.split(".")[0] for path in OBJECTS}) == len(OBJECTS) / 2, (
        f"clang-19 was not there when {BUILD} was configured: {OBJECTS}"
    )


@pytest.mark.parametrize("program", UNIT)
def test_programs_do_there_what_they_do_here(trip, program):
    status, said = trip.seen.tests[program]
    assert status == 0, said
