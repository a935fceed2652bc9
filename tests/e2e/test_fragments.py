# SPDX-License-Identifier: BSD-2-Clause
"""Datagrams larger than a frame, sent and answered by kernels, through both datapaths."""

import json
import os
import subprocess

import paths
import pytest
from labkit import network, process, view

HERE = os.path.dirname(os.path.realpath(__file__))
ADDRESSES = ["203.0.113.40", "203.0.113.60", "2001:db8:113::40", "2001:db8:113::60"]
COUNT = 100


def serve(lab):
    for node in lab.plan.bs:
        argv, env = lab.command(node.name, ["/usr/bin/python3", f"{HERE}/udp_big.py", "serve", node.name])
        process.spawn(argv, f"{lab.node_dir(node)}/big.log", env)
        process.wait_for("the server", lambda: lab.run(node.name, ["ss", "-Hlun", "sport = :9"])[1], interval=0.1)
    view.wait_members(lab, 5)


@pytest.fixture(scope="module", params=paths.EVERY)
def lab(request, make_module_lab):
    made = make_module_lab(config=f"{HERE}/fragments.yaml", backends=2, **request.param)
    made.path = request.param["path"]
    made.driver = request.param.get("driver")
    serve(made)
    return made


def set_path_mtu(lab, mtu):
    """The client's packets to services, so that the tunnel fits around its fragments; None: the link's."""
    for routed, gateway in (("203.0.113.0/24", "10.81.0.1"), ("2001:db8:113::/64", "fd81::1")):
        how = ["replace", routed, "via", gateway, "mtu", str(mtu)] if mtu else ["del", routed]
        assert lab.run("client", ["ip", "route", *how])[0] == 0


def send(lab, how, address, size=4000):
    command = ["/usr/bin/python3", f"{HERE}/udp_big.py", how, address, str(COUNT), str(size)]
    status, out, err = lab.run("client", command)
    assert status == 0, err
    return json.loads(out)


def all_answered(lab, told):
    """A message that names the missing ones and where they may have gone, not a hundred numbers."""
    missing = sorted(set(range(COUNT)) - set(told["answered"]))
    assert not missing, f"{missing} missing; {told['by']} answered; {drops(lab)}"
    return told["answered"] == list(range(COUNT))


def drops(lab):
    return lab.json("lb1", ["guideway", "drops"])


def skip_kernels_defragmentation(lab):
    if lab.driver == "af_packet":
        pytest.skip("DPDK's af_packet driver has the kernel put IPv4 datagrams together, and cuts them off at 2 KB")


@pytest.mark.parametrize("address", ADDRESSES)
def test_datagrams_of_4000_bytes_arrive_whole_and_in_order(lab, address):
    if "." in address:
        skip_kernels_defragmentation(lab)
    set_path_mtu(lab, 1400)
    told = send(lab, "send", address)
    set_path_mtu(lab, None)
    assert all_answered(lab, told)
    assert len(told["by"]) == 1
    assert drops(lab)["held"] == 0


def test_full_frames_without_df_are_cut_for_the_tunnel(lab):
    """The kernel's fragments of 1,500 bytes do not fit into a tunnel over links of 1,500."""
    if lab.path == "xdp":
        pytest.skip("XDP counts them as too_big (packets.md)")
    skip_kernels_defragmentation(lab)
    for address in ADDRESSES[:2]:
        assert all_answered(lab, send(lab, "send", address))


def test_fragments_that_come_last_first_are_held_and_follow(lab):
    if lab.path == "xdp":
        pytest.skip("XDP counts them as frag_early (packets.md)")
    skip_kernels_defragmentation(lab)
    told = send(lab, "reversed", ADDRESSES[0])
    assert all_answered(lab, told)
    assert len(told["by"]) == 1
    assert drops(lab)["held"] == 0


def test_fragments_that_come_last_first_are_counted_in_xdp(lab):
    if lab.path == "dpdk":
        pytest.skip("DPDK holds them (packets.md)")
    before = drops(lab)["drops"].get("frag_early", 0)
    command = ["/usr/bin/python3", f"{HERE}/udp_big.py", "reversed", ADDRESSES[0], "1", "4000"]
    assert json.loads(lab.run("client", command)[1])["answered"] == []
    # 4,008 bytes in pieces of 1,200: three later ones
    assert drops(lab)["drops"]["frag_early"] == before + 3


def test_every_size_of_frame_goes_through_unchanged(lab):
    """60 to 1514 bytes, by l2, which adds nothing."""
    script, address = f"{HERE}/every_size.py", "203.0.113.70"
    argv, env = lab.command("b1", ["/usr/bin/python3", script, "receive", "eth1", address])
    with subprocess.Popen(argv, env=env, stdout=subprocess.PIPE, text=True) as receiver:
        assert receiver.stdout.readline() == "ready\n"
        mac = lab.run("lb1", ["cat", "/sys/class/net/eth1/address"])[1].strip()
        status, _, err = lab.run("router", ["/usr/bin/python3", script, "send", "eth1", mac, "10.81.0.2", address])
        assert status == 0, err
        told = json.loads(receiver.communicate(timeout=120)[0])
    assert told["wrong"] == 0
    assert sorted(set(range(60, 1515)) - set(told["right"])) == []
    assert told["right"] == list(range(60, 1515))


@pytest.fixture(params=[paths.XDP_NATIVE, paths.XDP_GENERIC])
def jumbo_lab(request, make_lab):
    """Every link carries 9,000 bytes before a balancer starts."""
    made = make_lab(config=f"{HERE}/fragments.yaml", backends=2, start=False, **request.param)
    links = [(node.name, "eth1") for node in made.plan.bs + made.plan.lbs]
    links += [("client", "eth0"), ("router", "eth0"), ("router", "eth1")]
    for node, link in links:
        assert made.run(node, ["ip", "link", "set", link, "mtu", "9000"])[0] == 0
    for link in ("router", *(node.name for node in made.plan.bs + made.plan.lbs), "br0"):
        command = ["ip", "-n", made.plan.fabric, "link", "set", link, "mtu", "9000"]
        network.run(command)
    made.balancers_start()
    serve(made)
    return made


def test_jumbo_frames_arrive_through_xdp(jumbo_lab):
    for address in ADDRESSES:
        for size in (3400, 3600, 8000, 8800):
            assert all_answered(jumbo_lab, send(jumbo_lab, "send", address, size))
    # In fragments of 9,000 bytes, too.
    set_path_mtu(jumbo_lab, 8900)
    assert all_answered(jumbo_lab, send(jumbo_lab, "send", ADDRESSES[0], 20000))
