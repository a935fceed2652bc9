# SPDX-License-Identifier: BSD-2-Clause
"""A client whose links carry 1500 bytes uploads through a tunnel that leaves less: the too-big message reaches it."""

import os
import re
import subprocess

import pytest
from labkit import view

import paths

HERE = os.path.dirname(os.path.realpath(__file__))
V4, V6 = "203.0.113.10", "2001:db8:113::10"
SIZE = 10 << 20
TUNNEL = 1480  # 1500 less an outer IPv4 header


@pytest.fixture(scope="module", params=paths.BOTH)
def lab(request, make_module_lab):
    made = make_module_lab(config=f"{HERE}/flows.yaml", **request.param)
    view.wait_all_up(made)
    servers = []
    for name in ("b1", "b2", "b3"):
        command, environment = made.command(name, ["/usr/bin/python3", f"{HERE}/upload.py", "serve", name])
        servers.append(subprocess.Popen(command, env=environment))
    yield made
    for server in servers:
        server.kill()
        server.wait()


def mtu_towards(lab, address):
    """What the client's kernel has learnt; 0 when nothing."""
    status, out, error = lab.run("client", ["ip", "route", "get", address])
    assert status == 0, error
    found = re.search(r"\bmtu (\d+)", out)
    return int(found[1]) if found else 0


@pytest.mark.parametrize("address", [V4, V6])
def test_an_upload_learns_the_tunnels_mtu_and_arrives_whole(lab, address):
    assert mtu_towards(lab, address) == 0
    before = lab.json("lb1", ["guideway", "drops", "--json"])
    status, out, error = lab.run(
        "client", ["/usr/bin/python3", f"{HERE}/upload.py", "send", address, str(SIZE)]
    )
    after = lab.json("lb1", ["guideway", "drops", "--json"])
    assert status == 0, error
    assert re.fullmatch(rf"b[123] {SIZE}", out.strip()), out
    assert mtu_towards(lab, address) == TUNNEL
    assert after["replied"] > before["replied"]
    assert after["drops"]["too_big"] == before["drops"]["too_big"]
