#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""
Seeded random packets through both datapaths: same verdict, backend, reason, slot, and the same bytes out. Valid flows
over every service of config.yaml, and packets broken in every way that a random hand breaks them.
"""

import os
import random
import socket
import struct

import pytest
from replay import replay
from test_golden import HERE

FLOWS = 10000
BROKEN = 1000000 if os.environ.get("GUIDEWAY_CHECK_FULL") else 30000

VIPS4 = ["203.0.113.10", "203.0.113.20", "203.0.113.30", "203.0.113.40", "203.0.113.50", "203.0.113.64",
         "203.0.113.65", "203.0.113.100", "203.0.113.11", "10.82.0.11"]
VIPS6 = ["2001:db8:113::10", "2001:db8:113::20", "2001:db8:113::40", "2001:db8:113::99"]
PORTS = [80, 53, 22, 443, 8000, 8010, 8015, 8050, 8099, 8100, 0, 65535]
ETHERNET = bytes.fromhex("020000000002020000000009")


def checksum(data):
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def transport(rng, protocol, ports, flags):
    payload = bytes(rng.randrange(0, 40))
    if protocol == 6:
        return struct.pack("!HHIIBBHHH", *ports, rng.getrandbits(32), 0, 0x50, flags, 1000, 0, 0) + payload
    if protocol == 17:
        return struct.pack("!HHHH", *ports, 8 + len(payload), 0) + payload
    if protocol == 132:
        return struct.pack("!HHII", *ports, 7, 0) + payload
    return payload + b"other"


def ipv4(rng, source, destination, protocol, payload):
    flags = rng.choice([0, 0x4000])
    head = struct.pack("!BBHHHBBH4s4s", 0x45, rng.getrandbits(8), 20 + len(payload), rng.getrandbits(16), flags,
                       rng.randrange(1, 255), protocol, 0, source, destination)
    return ETHERNET + b"\x08\x00" + head[:10] + struct.pack("!H", checksum(head)) + head[12:] + payload


def ipv6(rng, source, destination, protocol, payload):
    head = struct.pack("!IHBB16s16s", 6 << 28 | rng.getrandbits(28), len(payload), protocol,
                       rng.randrange(1, 255), source, destination)
    return ETHERNET + b"\x86\xdd" + head + payload


def flow(rng):
    """One packet of a random flow, valid."""
    protocol = rng.choice([6] * 8 + [17, 17, 132, 47])
    ports = (rng.randrange(1024, 65536), 80 if rng.random() < 0.7 else rng.choice(PORTS))
    payload = transport(rng, protocol, ports, rng.choice([2, 16, 17, 4, 24]))
    if rng.random() < 0.6:
        source = struct.pack("!I", 0xC6336400 + rng.randrange(256))
        return ipv4(rng, source, socket.inet_aton(rng.choice(VIPS4)), protocol, payload)
    source = socket.inet_pton(socket.AF_INET6, "2001:db8:c::")[:14] + struct.pack("!H", rng.getrandbits(16))
    destination = socket.inet_pton(socket.AF_INET6, rng.choice(VIPS6))
    return ipv6(rng, source, destination, protocol, payload)


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


def documented_difference(dpdk, xdp):
    """packets.md: XDP cannot hold a fragment, and does not cut a packet."""
    if xdp["reason"] == "frag_early":
        return dpdk["held"] or dpdk["reason"] == "frag_full"
    if xdp["reason"] == "too_big":
        return dpdk["verdict"] == "tx" and len(dpdk["out"]) > 1
    return False


def compare(frames, tmp_path):
    dpdk_lines, dpdk_out = replay("dpdk", HERE / "config.yaml", frames, tmp_path)
    xdp_lines, xdp_out = replay("xdp", HERE / "config.yaml", frames, tmp_path)
    for left, right, frame in zip(dpdk_lines, xdp_lines, frames):
        if documented_difference(left, right):
            continue
        sent = [[out[position] for position in line.pop("out")] for line, out in ((left, dpdk_out), (right, xdp_out))]
        assert left == right, f"dpdk {left}\nxdp  {right}\nframe {frame.hex()}"
        assert sent[0] == sent[1], f"frame {frame.hex()}"
    return dpdk_lines


def test_random_flows_go_alike_through_both_paths(tmp_path):
    rng = random.Random(20261130)
    lines = compare([flow(rng) for _ in range(FLOWS)], tmp_path)
    verdicts = {line["verdict"] for line in lines}
    assert verdicts == {"tx", "host", "drop"}
    assert {line["backend"] for line in lines} >= {"b4", "b6", "t1", "t2", "t3"}
    assert sum(line["verdict"] == "tx" for line in lines) > FLOWS / 4


@pytest.mark.parametrize("seed", [1, 2])
def test_broken_packets_go_alike_through_both_paths(seed, tmp_path):
    rng = random.Random(seed)
    lines = compare([damage(rng, flow(rng)) for _ in range(BROKEN // 2)], tmp_path)
    reasons = {line["reason"] for line in lines if line["verdict"] == "drop"}
    assert reasons >= {"malformed", "martian", "exthdr", "frag_expired", "no_service", "no_backend"}
