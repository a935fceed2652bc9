# SPDX-License-Identifier: BSD-2-Clause
"""Every reason to drop a packet: so many frames of its kind in, so many counted, and no other.

Two reasons no frame from outside can bring about; tests/unit/dp_packets.c counts those: no_headroom, host_full.
"""

import collections
import json
import re
import subprocess
import time
import os

import pytest
from labkit import process
from scapy.layers.inet import ICMP, IP, TCP, UDP
from scapy.layers.inet6 import IPv6, IPv6ExtHdrDestOpt
from scapy.layers.l2 import Ether
from scapy.packet import Raw

import paths

HERE = os.path.dirname(os.path.realpath(__file__))
WEB, NOBODY, AWAY, SHARED, WEB6 = (
    "203.0.113.10",
    "203.0.113.11",
    "203.0.113.12",
    "203.0.113.13",
    "2001:db8:113::10",
)
CLIENT = "10.81.0.2"
NOT_BY_FRAMES = {"no_headroom", "host_full"}
OF_ONE_PATH = {"frag_early": "xdp", "frag_full": "dpdk", "frag_expired": "dpdk", "no_host_path": "dpdk"}
N = 7


def udp(vip=WEB, data=b"x", **fields):
    return IP(src=CLIENT, dst=vip, **fields) / UDP(sport=4000, dport=80) / Raw(data)


def long_udp(flags):
    return udp(data=bytes(1470), flags=flags)


def later(number, size=16):
    return IP(src=CLIENT, dst=WEB, proto=17, flags=0, frag=2, id=number) / Raw(bytes(size))


def error(size):
    quote = bytes(IP(src=WEB, dst=CLIENT) / UDP(sport=80, dport=4000))
    return IP(src=CLIENT, dst=WEB, flags="DF") / ICMP(type=3, code=1) / Raw(quote + bytes(size - 56))


# By reason: the packets that are each dropped under it.
PACKETS = {
    "malformed": [IP(src=CLIENT, dst=WEB, proto=17) / Raw(bytes(7))] * N,
    "martian": [IP(src="127.0.0.1", dst=WEB) / UDP(dport=80)] * N,
    "exthdr": [IPv6(src="fd81::2", dst=WEB6) / IPv6ExtHdrDestOpt()] * N,
    "icmp_other": [IP(src=CLIENT, dst=WEB) / ICMP(type=13)] * N,
    "no_service": [IP(src=CLIENT, dst=WEB) / TCP(dport=443)] * N,
    "no_backend": [udp(NOBODY)] * N,
    "no_neighbour": [udp(AWAY)] * N,
    "too_big": [error(1490)] * N,
    "frag_empty": [IP(src=CLIENT, dst=WEB, proto=17, flags="MF", id=9)] * N,
    "frag_early": [later(n) for n in range(N)],
    "frag_expired": [later(100 + n) for n in range(N)],
    "no_host_path": [IP(src=CLIENT, dst=SHARED) / TCP(dport=443)] * N,
}
for _ in range(8):
    PACKETS["exthdr"] = [packet / IPv6ExtHdrDestOpt() for packet in PACKETS["exthdr"]]


@pytest.fixture(scope="module", params=paths.BOTH)
def lab(request, make_module_lab):
    made = make_module_lab(config=f"{HERE}/drops.yaml", **request.param)
    made.of_path = request.param["path"]
    process.wait_for("b1's next hop", lambda: probe(made))
    return made


def drops(lab):
    return lab.json("lb1", ["guideway", "drops", "--json"])


def probe(lab):
    before = drops(lab)["tx"]
    send(lab, [udp()])
    time.sleep(0.1)
    return drops(lab)["tx"] > before


def send(lab, packets):
    """Packets to the balancer, from the router, each in a frame with its link layer."""
    status, link, _ = lab.run("lb1", ["ip", "-j", "link", "show", "eth1"])
    assert status == 0
    head = Ether(src="02:00:00:00:00:09", dst=json.loads(link)[0]["address"])
    frames = [bytes(head / packet).hex() for packet in packets]
    command, environment = lab.command("router", ["/usr/bin/python3", f"{HERE}/send_frames.py", "eth1"])
    subprocess.run(command, env=environment, input=json.dumps(frames), text=True, check=True, timeout=60)


def sum_of(now):
    parts = ("tx", "to_host", "replied", "consumed", "held")
    return sum(now[part] for part in parts) + sum(now["drops"].values())


def grown(before, after):
    """What was counted in between, zeros left out."""
    counts = collections.Counter(after["drops"])
    counts.subtract(before["drops"])
    return {reason: count for reason, count in counts.items() if count}


def counted(lab, before, expected):
    def settled():
        return grown(before, drops(lab)) == expected

    try:
        process.wait_for("the counters", settled)
    except process.LabError:
        assert grown(before, drops(lab)) == expected
    process.wait_for("rx = sum of outcomes", lambda: drops(lab)["rx"] == sum_of(drops(lab)))


@pytest.mark.parametrize("reason", PACKETS)
def test_a_packet_is_counted_under_its_reason_once(lab, reason):
    if OF_ONE_PATH.get(reason, lab.of_path) != lab.of_path:
        pytest.skip("a reason of the other path")
    before = drops(lab)
    send(lab, PACKETS[reason])
    counted(lab, before, {reason: len(PACKETS[reason])})


def test_answers_beyond_the_limit_are_counted(lab):
    before = drops(lab)
    send(lab, [long_udp("DF")] * 400)

    def decided():
        now = drops(lab)
        return now["rx"] >= before["rx"] + 400 and now["rx"] == sum_of(now) and now

    after = process.wait_for("400 packets", decided)
    limited = grown(before, after)
    assert set(limited) == {"ptb_limited"}
    assert after["replied"] - before["replied"] + limited["ptb_limited"] == 400
    assert after["replied"] - before["replied"] >= 100


def test_held_fragments_have_a_bound(lab):
    if lab.of_path != "dpdk":
        pytest.skip("XDP holds no fragments")
    before = drops(lab)
    send(lab, [later(1000 + n) for n in range(400)])

    def decided():
        now = drops(lab)
        return now["rx"] >= before["rx"] + 400 and now["held"] == 0 and now["rx"] == sum_of(now) and now

    after = process.wait_for("all to be decided", decided)
    counts = grown(before, after)
    assert set(counts) == {"frag_full", "frag_expired"} and sum(counts.values()) == 400, counts
    assert after["rx"] == sum_of(after)


def test_the_list_of_reasons_is_one_everywhere(lab):
    """The command line, the metrics and the manual know the same reasons, and this file each of them."""
    known = set(drops(lab)["drops"])
    tested = set(PACKETS) | {"ptb_limited", "frag_full"} | NOT_BY_FRAMES
    assert tested == known
    status, text, problem = lab.run("lb1", ["curl", "-sf", "http://127.0.0.1:9391/metrics"])
    assert status == 0, problem
    assert set(re.findall(r'guideway_dropped_packets_total{[^}]*reason="([a-z_]+)"', text)) == known
