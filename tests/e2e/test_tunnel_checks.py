# SPDX-License-Identifier: BSD-2-Clause
"""Health checks via the tunnel: kept by backend and service address, through every encapsulation."""

import os

import pytest
from labkit import process

import paths

HERE = os.path.dirname(os.path.realpath(__file__))
POOLS = {"web": 10, "over6": 20, "gue": 30, "gre": 40, "l2": 50, "icmp": 60}
PARTS = {name for pool, host in POOLS.items() for name in (pool, f"{pool}@2001:db8:113::{host}")}
EVERY = {(part, backend) for part in PARTS for backend in ("b1", "b2")}


@pytest.fixture(scope="module", params=paths.BOTH)
def lab(request, make_module_lab):
    made = make_module_lab(config=f"{HERE}/tunnel.yaml", backends=2, **request.param)
    wait_down(made, set())
    return made


def states(lab, key="health"):
    listed = lab.json("lb1", ["guideway", "backend", "list"])
    return {(one["pool"], one["name"]): one[key] for one in listed}


def down(lab):
    """What takes no part; those not asked yet are neither."""
    shown = lab.json("lb1", ["guideway", "backend", "list"])
    if any(one["health"] == "unknown" for one in shown):
        return None
    return {(one["pool"], one["name"]) for one in shown if not one["slots"]}


def wait_down(lab, expected):
    process.wait_for(f"{sorted(expected)} to be down, and nothing else", lambda: down(lab) == expected, interval=0.1)


def on(lab, node, *command):
    status, out, err = lab.run(node, list(command))
    assert status == 0, out + err
    return out


def test_every_encapsulation_and_family_is_probed(lab):
    assert set(states(lab)) == EVERY
    wait_down(lab, set())
    shown = lab.json("lb1", ["guideway", "backend", "explain", "web/b1"])
    asked = {(probe["address"], probe["via"], probe["health"]) for probe in shown["probes"]}
    assert asked == {("203.0.113.10", "tunnel", "up"), ("2001:db8:113::10", "tunnel", "up")}
    assert all(probe["answers"][0]["text"] == "http 200" for probe in shown["probes"])


def test_a_backend_that_lacks_one_address_is_down_for_its_services_alone(lab):
    address = "2001:db8:113::10/128"
    on(lab, "b2", "ip", "addr", "del", address, "dev", "lo")
    try:
        wait_down(lab, {("web@2001:db8:113::10", "b2")})
        shown = on(lab, "lb1", "guideway", "lookup", "--json", "tcp [2001:db8::7]:40000 [2001:db8:113::10]:80")
        assert '"b1"' in shown and '"service":"web"' in shown.replace(" ", "")
    finally:
        on(lab, "b2", "ip", "addr", "add", address, "dev", "lo", "nodad")
    wait_down(lab, set())


def test_a_backend_without_its_decapsulator_is_down_where_packets_are_encapsulated(lab):
    on(lab, "b1", "guideway-decap", "detach", "eth1")
    try:
        wait_down(lab, {(part, "b1") for part in PARTS if not part.startswith("l2")})
    finally:
        lab._decap_attach(lab.plan.node("b1"), None)
    wait_down(lab, set())


def test_a_drain_counts_for_every_address(lab):
    on(lab, "lb1", "guideway", "backend", "drain", "web/b2")
    try:
        assert states(lab, "state")[("web@2001:db8:113::10", "b2")] == "drain"
        wait_down(lab, {("web", "b2"), ("web@2001:db8:113::10", "b2")})
    finally:
        on(lab, "lb1", "guideway", "override", "clear", "web/b2")
    wait_down(lab, set())


def test_what_probes_need_of_the_kernel_goes_with_the_daemon(lab):
    assert "lookup 7601" in on(lab, "lb1", "ip", "rule")
    assert "fwmark 0x800000/0x800000" in on(lab, "lb1", "ip", "-6", "rule")
    lab.stop("lb1", "control")
    try:
        assert "7601" not in on(lab, "lb1", "ip", "rule") + on(lab, "lb1", "ip", "-6", "rule")
        assert "gw-probe" not in on(lab, "lb1", "ip", "link")
    finally:
        lab.start("lb1", "control")
    wait_down(lab, set())
