# SPDX-License-Identifier: BSD-2-Clause
"""Several next hops to one backend: flows are shared by the kernel's weights, and leave a way that dies."""

import os

import pytest
from labkit import process

import paths

HERE = os.path.dirname(os.path.realpath(__file__))
WAYS = {"b1": "10.82.0.101", "b2": "10.82.0.102"}
URL = "http://203.0.113.40/"


def must(lab, node, command):
    status, out, err = lab.run(node, command.split())
    assert status == 0, out + err


def route_set(lab, weights):
    hops = " ".join(f"nexthop via {WAYS[name]} dev eth1 weight {weight}" for name, weight in weights.items())
    must(lab, "lb1", f"ip route replace 10.99.0.0/24 {hops}")


@pytest.fixture(params=paths.BOTH)
def lab(request, make_lab):
    made = make_lab(config=f"{HERE}/multipath.yaml", backends=2, **request.param)
    for name in WAYS:
        must(made, name, "ip addr add 10.99.0.1/32 dev lo")
    route_set(made, {"b1": 1, "b2": 1})
    return made


def answers(lab, count):
    """Who answered how many of so many connections; a failure counts as \"\"."""
    command = f"for i in $(seq {count}); do curl -s --max-time 2 {URL} || echo; done"
    _, out, _ = lab.run("client", ["sh", "-c", command])
    names = out.split("\n")[:-1]
    return {name: names.count(name) for name in set(names)}


def test_flows_are_shared_and_leave_a_way_that_dies(lab):
    process.wait_for("answers by both ways", lambda: set(answers(lab, 12)) == set(WAYS))
    process.wait_for("answers to all", lambda: "" not in answers(lab, 12))
    shares = answers(lab, 60)
    # 60 draws of one half: fewer than 8 once in 10^9 times
    assert set(shares) == set(WAYS) and min(shares.values()) >= 8, shares
    route_set(lab, {"b1": 7, "b2": 1})
    process.wait_for("the new weights", lambda: answers(lab, 40).get("b1", 0) >= 28)
    must(lab, "b1", "ip link set eth1 down")
    process.wait_for("one way only", lambda: answers(lab, 12) == {"b2": 12})
    must(lab, "b1", "ip link set eth1 up")
    must(lab, "b1", "ip route replace default via 10.82.0.1")
    process.wait_for("both ways again", lambda: set(answers(lab, 24)) == set(WAYS))
