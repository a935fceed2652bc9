#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""
Seeded random packets through both datapaths: same verdict, backend, reason, slot, and the same bytes out, except the two
differences that packets.md documents. Valid flows over every service of config.yaml in every encapsulation; datagrams
in fragments, in and out of order; packets around every MTU and jumbo ones; ICMP and what it quotes; and all of them broken
in every way that a random hand breaks them.
"""

import os
import random
import socket
import struct

import pytest
from each_case import HERE
from replay import replay

PACKETS = 1000000 if os.environ.get("GUIDEWAY_CHECK_FULL") else 40000
CHUNK = 50000  # packets of one replay; each starts with empty tables
FIRST_BUFFER = 3520  # of a test run (xdp_test_run.h); a driver's are about as long
TICK = 0.001  # seconds between two packets

# Each path draws the seed of its flow table: a table that fills up forgets other flows in one than in the other.
CONFIG = (HERE / "config.yaml").read_text(encoding="utf-8").replace("flows: 4096", "flows: 1048576")
assert "flows: 1048576" in CONFIG

# DPDK's pipeline takes another way where some service does not track flows: with it, and without.
WITH_UNTRACKED = CONFIG + (
    '  - {name: plain, addresses: [203.0.113.41, "2001:db8:113::41"], protocol: any, ports: [any], pool: three, '
    "track_flows: false}\n")

VIPS4 = ["203.0.113.10", "203.0.113.20", "203.0.113.30", "203.0.113.40", "203.0.113.41", "203.0.113.50", "203.0.113.64",
         "203.0.113.65", "203.0.113.100", "203.0.113.11", "10.82.0.11"] + [f"203.0.113.{n}" for n in range(141, 151)]
VIPS6 = ["2001:db8:113::10", "2001:db8:113::20", "2001:db8:113::40", "2001:db8:113::41", "2001:db8:113::99"]
VIPS6 += [f"2001:db8:113::{n}" for n in range(141, 151)]
PORTS = [80, 53, 22, 443, 8000, 8010, 8015, 8050, 8099, 8100, 0, 65535]
ETHERNET = bytes.fromhex("020000000002020000000009")


def checksum(data):
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def transport(rng, protocol, ports, flags, size):
    payload = rng.randbytes(size)
    if protocol == 6:
        return struct.pack("!HHIIBBHHH", *ports, rng.getrandbits(32), 0, 0x50, flags, 1000, 0, 0) + payload
    if protocol == 17:
        return struct.pack("!HHHH", *ports, 8 + len(payload), 0) + payload
    if protocol == 132:
        return struct.pack("!HHII", *ports, 7, 0) + payload
    return payload + b"other"


def ipv4(rng, source, destination, protocol, payload, **fields):
    """fields: ident, flags (and offset), options (bytes, whole words)."""
    options = fields.get("options", b"")
    flags = fields.get("flags", rng.choice([0, 0x4000]))
    head = struct.pack("!BBHHHBBH4s4s", 0x45 + len(options) // 4, rng.getrandbits(8), 20 + len(options) + len(payload),
                       fields.get("ident", rng.getrandbits(16)), flags, rng.randrange(1, 255), protocol, 0, source,
                       destination) + options
    return ETHERNET + b"\x08\x00" + head[:10] + struct.pack("!H", checksum(head)) + head[12:] + payload


def ipv6(rng, source, destination, protocol, payload):
    head = struct.pack("!IHBB16s16s", 6 << 28 | rng.getrandbits(28), len(payload), protocol,
                       rng.randrange(1, 255), source, destination)
    return ETHERNET + b"\x86\xdd" + head + payload


def ends(rng):
    """(source, destination) of one family."""
    if rng.random() < 0.6:
        return struct.pack("!I", 0xC6336400 + rng.randrange(256)), socket.inet_aton(rng.choice(VIPS4))
    source = socket.inet_pton(socket.AF_INET6, "2001:db8:c::")[:14] + struct.pack("!H", rng.getrandbits(16))
    return source, socket.inet_pton(socket.AF_INET6, rng.choice(VIPS6))


def size_of(rng):
    """Mostly small; else around the MTU, or jumbo."""
    chance = rng.random()
    if chance < 0.85:
        return rng.randrange(0, 40)
    return rng.randrange(1380, 1500) if chance < 0.97 else rng.randrange(3400, 9000)


def conversation(rng):
    """(protocol, ports)"""
    protocol = rng.choice([6] * 8 + [17, 17, 132, 47])
    return protocol, (rng.randrange(1024, 65536), 80 if rng.random() < 0.7 else rng.choice(PORTS))


def body(rng, size=None, of=None):
    """(protocol, transport header and payload)."""
    protocol, ports = of or conversation(rng)
    return protocol, transport(rng, protocol, ports, rng.choice([2, 16, 17, 4, 24]), size_of(rng) if size is None else size)


def whole(rng, source, destination, protocol, payload, **fields):
    if len(source) == 4:
        return ipv4(rng, source, destination, protocol, payload, **fields)
    return ipv6(rng, source, destination, protocol, payload)


def flow(rng):
    """Some packets of a random flow, valid."""
    who, of = ends(rng), conversation(rng)
    return [whole(rng, *who, *body(rng, of=of)) for _ in range(rng.choice([1, 1, 2, 4]))]


OPTIONS = [b"\x01" * 4, bytes.fromhex("88040001"), bytes.fromhex("4408050000000000"), bytes.fromhex("0188040001000000"),
           bytes.fromhex("8300000000000000"), bytes.fromhex("88ff0001")]


def with_options(rng):
    source = struct.pack("!I", 0xC6336400 + rng.randrange(256))
    return ipv4(rng, source, socket.inet_aton(rng.choice(VIPS4)), *body(rng), options=rng.choice(OPTIONS))


def datagram(rng):
    """A datagram in fragments: mostly in order, sometimes not, doubled, lost, or of a reused id."""
    source, destination = ends(rng)
    protocol, payload = body(rng, rng.randrange(16, 400) if rng.random() < 0.7 else rng.randrange(1400, 6000))
    ident = rng.randrange(8) if rng.random() < 0.2 else rng.getrandbits(16)
    step = max(8, len(payload) // rng.randrange(2, 5) & ~7)
    pieces = []
    end = len(payload) + (step if rng.random() < 0.1 else 0)  # one more, without payload
    for at in range(0, end, step):
        more = at + step < len(payload)
        part = payload[at : at + step]
        if len(source) == 4:
            pieces.append(ipv4(rng, source, destination, protocol, part, ident=ident, flags=more << 13 | at // 8))
        else:
            head = struct.pack("!BBHI", protocol, 0, at | more, ident)
            pieces.append(ipv6(rng, source, destination, 44, head + part))
    chance = rng.random()
    if chance < 0.3:
        rng.shuffle(pieces)
    elif chance < 0.4:
        pieces += rng.choices(pieces, k=2)
    elif chance < 0.5:
        pieces.pop(rng.randrange(len(pieces)))
    return pieces


def icmp(rng):
    """Echo, errors that quote a packet from the service, and others, to a service address."""
    source, destination = ends(rng)
    v4 = len(source) == 4
    kind = rng.random()
    if kind < 0.3:
        rest = struct.pack("!HH", rng.getrandbits(16), 1) + rng.randbytes(rng.randrange(0, 60))
        head = bytes([rng.choice([8, 8, 0, 13]) if v4 else rng.choice([128, 128, 129, 135]), 0])
    else:
        # from the service to the client: what it had sent
        quoted = whole(rng, destination, source, *body(rng, rng.randrange(8, 64)))[14:]
        rest = struct.pack("!HH", 0, rng.choice([0, 576, 1400])) + quoted[: rng.randrange(20, len(quoted) + 1)]
        head = bytes([rng.choice([3, 3, 4, 5, 11, 12]) if v4 else rng.choice([1, 2, 3, 4, 5]), rng.randrange(6)])
    message = head + b"\0\0" + rest
    if not v4:
        pseudo = source + destination + struct.pack("!II", len(message), 58)
        message = head + struct.pack("!H", checksum(pseudo + message + bytes(len(message) % 2))) + rest
        return ipv6(rng, source, destination, 58, message)
    message = head + struct.pack("!H", checksum(message + bytes(len(message) % 2))) + rest
    return ipv4(rng, source, destination, 1, message)


def kinds(rng):
    """Some packets, in the order in which they come."""
    chance = rng.random()
    if chance < 0.6:
        return flow(rng)
    if chance < 0.75:
        return datagram(rng)
    return [icmp(rng) if chance < 0.9 else with_options(rng)]


def generate(rng, count, broken):
    frames = []
    while len(frames) < count:
        frames += [damage(rng, frame) if rng.random() < broken else frame for frame in kinds(rng)]
    return frames[:count]


def damage(rng, frame):
    """Cuts, pads, or changes some bytes of the headers; tags; stacks extension headers."""
    kind = rng.randrange(8)
    data = bytearray(frame)
    if kind == 0:
        return bytes(data[: rng.randrange(14, len(data) + 1)])
    if kind == 1:
        return bytes(data) + bytes(rng.randrange(1, 60))
    if kind == 2:
        tag = struct.pack("!HH", rng.choice([0x8100, 0x88A8]), rng.getrandbits(12))
        return bytes(data[:12]) + tag * rng.randrange(1, 4) + bytes(data[12:])
    if kind == 3 and data[12:14] == b"\x86\xdd":
        count, following = rng.randrange(1, 11), data[20]
        kinds = [rng.choice([0, 43, 44, 51, 60]) for _ in range(count)]
        chain = b"".join(
            bytes([kinds[i + 1] if i + 1 < count else following, rng.choice([0, 0, 0, 1, 200])]) + bytes(
                rng.choice([6, 6, 6, 10])) for i in range(count))
        data[20] = kinds[0]
        data[18:20] = struct.pack("!H", len(data) - 54 + len(chain))
        return bytes(data[:54]) + chain + bytes(data[54:])
    for _ in range(rng.randrange(1, 4)):
        data[rng.randrange(0, min(len(data), 80))] = rng.getrandbits(8)
    return bytes(data)


def headers_end(frame):
    """Where an IPv6 packet's extension headers end: 0 for what is no such packet."""
    kind, at = frame[20], 54
    if frame[12:14] != b"\x86\xdd":
        return 0
    for _ in range(9):
        if kind not in (0, 43, 44, 51, 60) or at + 2 > len(frame):
            break
        size = 8 if kind == 44 else (frame[at + 1] + 2) * 4 if kind == 51 else (frame[at + 1] + 1) * 8
        kind, at = frame[at], at + size
    return at


def documented_difference(dpdk, xdp, frame):
    """packets.md: XDP cannot hold a fragment, and does not cut a packet. architecture.md: it reads headers in a frame's
    first buffer."""
    if xdp["reason"] == "malformed" and headers_end(frame) > FIRST_BUFFER - 20:
        return True
    if xdp["reason"] == "frag_early":
        return dpdk["held"] or dpdk["reason"] == "frag_full"
    if xdp["reason"] == "too_big":
        return dpdk["verdict"] == "tx" and len(dpdk["out"]) > 1
    return False


def compare(frames, tmp_path, text=CONFIG, ways=None):
    stamped = [(1000 + index * TICK, frame) for index, frame in enumerate(frames)]
    config = tmp_path / "config.yaml"
    config.write_text(text, encoding="utf-8")
    dpdk_lines, dpdk_out = replay("dpdk", config, stamped, tmp_path, ways=ways)
    xdp_lines, xdp_out = replay("xdp", config, stamped, tmp_path, ways=ways, untraced=True)
    for left, right, frame in zip(dpdk_lines, xdp_lines, frames):
        if documented_difference(left, right, frame):
            continue
        sent = [[out[position] for position in line.pop("out")] for line, out in ((left, dpdk_out), (right, xdp_out))]
        assert left == right, f"dpdk {left}\nxdp  {right}\nframe {frame.hex()}"
        assert sent[0] == sent[1], f"frame {frame.hex()}"
    return dpdk_lines, xdp_lines


def play(seed, count, broken, tmp_path, text, ways=None):
    """Verdicts, reasons and backends that occurred in the DPDK path, and what became of flows."""
    rng = random.Random(seed)
    seen = {"verdict": set(), "reason": set(), "backend": set(), "held": set(), "flow": set(), "pieces": set()}
    while count > 0:
        lines, _ = compare(generate(rng, min(count, CHUNK), broken), tmp_path, text, ways)
        for line in lines:
            for field in ("verdict", "reason", "backend", "held", "flow"):
                seen[field].add(line.get(field))
            seen["pieces"].add(len(line.get("out", ())))
        count -= CHUNK
    return seen


@pytest.mark.parametrize("ways", [1, 5])
def test_valid_packets_go_alike_through_both_paths(tmp_path, ways):
    seen = play(20261130, PACKETS // 2, 0, tmp_path, WITH_UNTRACKED, ways)
    assert seen["verdict"] >= {"tx", "host", "drop"}
    assert seen["backend"] >= {"b4", "b6", "t1", "t2", "t3", "g4", "g6", "g0", "r4", "r6", "l4", "l6", "v4", "v6", "m4"}
    assert seen["held"] == {True, False}
    assert seen["flow"] >= {"new", "tracked", "table_only"}
    assert max(seen["pieces"]) > 4


@pytest.mark.parametrize("seed", [1, 2])
def test_broken_packets_go_alike_through_both_paths(seed, tmp_path):
    seen = play(seed, PACKETS // 4, 0.8, tmp_path, (CONFIG, WITH_UNTRACKED)[seed - 1])
    wanted = {"malformed", "martian", "exthdr", "frag_expired", "frag_empty", "no_service", "no_backend", "icmp_other"}
    assert seen["reason"] >= wanted


def test_every_size_goes_alike_through_both_paths(tmp_path):
    """60 to 1514 bytes, by three tunnels and both families."""
    rng = random.Random(3)
    frames = []
    for size in range(60, 1515):
        for name, address in ((4, "203.0.113.30"), (4, "203.0.113.142"), (6, "2001:db8:113::144"), (6, "2001:db8:113::147")):
            source = socket.inet_aton("198.51.100.7") if name == 4 else socket.inet_pton(socket.AF_INET6, "2001:db8:c::7")
            destination = socket.inet_pton(socket.AF_INET if name == 4 else socket.AF_INET6, address)
            payload = transport(rng, 17, (4000 + size % 7, 80), 0, max(0, size - (42 if name == 4 else 62)))
            frames.append(whole(rng, source, destination, 17, payload, flags=0x4000 if size % 2 else 0).ljust(size, b"\0"))
    lines, _ = compare(frames, tmp_path)
    assert sum(line["verdict"] == "tx" for line in lines) > 4 * 1300
