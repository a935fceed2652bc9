# SPDX-License-Identifier: BSD-2-Clause
"""Ping, too-big messages, errors to the flow's backend and announce: l2, with real kernels at all ends."""

import json
import os

import pytest
from labkit import process, view

import paths

HERE = os.path.dirname(os.path.realpath(__file__))
PYTHON = "/usr/bin/python3"
VIPS = ["203.0.113.40", "2001:db8:113::40", "203.0.113.60", "2001:db8:113::60"]


@pytest.fixture(scope="module", params=paths.EVERY)
def lab(request, make_module_lab):
    made = make_module_lab(config=f"{HERE}/icmp.yaml", backends=2, **request.param)
    for node in made.plan.bs:
        for name, words in (("df_upload", ["serve"]), ("udp_echo", ["serve", node.name])):
            argv, env = made.command(node.name, [PYTHON, f"{HERE}/{name}.py", *words])
            process.spawn(argv, f"{made.node_dir(node)}/{name}.log", env)
    view.wait_members(made, 4)
    return made


@pytest.mark.parametrize("address", VIPS)
@pytest.mark.parametrize("size", [0, 1, 56, 1400])
def test_ping_of_a_service_address_is_answered(lab, address, size):
    status, out, err = lab.run("client", ["ping", "-n", "-c", "2", "-i", "0.1", "-W", "10", "-s", str(size), address])
    assert status == 0, out + err
    assert " 0% packet loss" in out
    assert "ttl=63" in out  # 64, and one router


@pytest.mark.parametrize("address,mtu", zip(VIPS, [1480, 1480, 1460, 1460]))
def test_an_upload_with_df_finds_the_tunnels_mtu(lab, address, mtu):
    for table in ("-4", "-6"):
        lab.run("client", ["ip", table, "route", "flush", "cache"])
    before = lab.json("lb1", ["guideway", "drops", "--json"])
    status, out, err = lab.run("client", [PYTHON, f"{HERE}/df_upload.py", "send", address, str(10 << 20)])
    assert status == 0, err
    assert json.loads(out) == {"counted": 10 << 20, "mtu": mtu}
    after = lab.json("lb1", ["guideway", "drops", "--json"])
    assert after["replied"] > before["replied"]
    assert after["drops"]["too_big"] == before["drops"]["too_big"]


def unreachables(lab, name):
    status, out, err = lab.run(name, ["nstat", "-asz", "--json", "IcmpInDestUnreachs"])
    assert status == 0, err
    return json.loads(out)["kernel"]["IcmpInDestUnreachs"]


def test_an_error_reaches_the_backend_of_its_flow(lab):
    vip = VIPS[0]
    ask = ("import socket; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.settimeout(20); s.bind(('', %d));"
           " s.sendto(b'0', ('%s', 7)); print(s.recv(99).split()[0].decode())")
    seen = set()
    for port in range(3100, 3112):
        status, name, err = lab.run("client", [PYTHON, "-c", ask % (port, vip)])
        assert status == 0, err
        before = {node.name: unreachables(lab, node.name) for node in lab.plan.bs}
        status, _, err = lab.run("client", [PYTHON, f"{HERE}/df_upload.py", "unreachable", vip, str(port)])
        assert status == 0, err
        name = name.strip()
        process.wait_for("the error to arrive", lambda: unreachables(lab, name) > before[name], interval=0.05)  # noqa: B023
        assert {n: unreachables(lab, n) - count for n, count in before.items()} == {n: int(n == name) for n in before}
        seen.add(name)
    assert seen == {"b1", "b2"}


@pytest.mark.parametrize("address", ["10.82.0.200", "fd82::200"])
def test_an_announced_address_is_found_on_the_link(lab, address):
    neighbour = ["ip", "neigh", "show", address, "dev", "eth1"]
    status, out, err = lab.run("router", ["ping", "-n", "-c", "2", "-i", "0.1", "-W", "10", address])
    assert status == 0, out + err
    _, port, _ = lab.run("lb1", ["cat", "/sys/class/net/eth1/address"])
    assert port.strip() in lab.run("router", neighbour)[1]
    # Found anew, and by a unicast question too.
    assert lab.run("router", ["ip", "neigh", "del", address, "dev", "eth1"])[0] == 0
    assert lab.run("router", ["ping", "-n", "-c", "1", "-W", "10", address])[0] == 0


def test_other_addresses_are_not_announced(lab):
    lab.run("router", ["ping", "-n", "-c", "1", "-W", "1", "10.82.0.201"])
    assert "lladdr" not in lab.run("router", ["ip", "neigh", "show", "10.82.0.201", "dev", "eth1"])[1]
    # The balancer's own address is its kernel's business on every path.
    assert lab.run("router", ["ping", "-n", "-c", "1", "-W", "10", "10.82.0.11"])[0] == 0
