# SPDX-License-Identifier: BSD-2-Clause
"""Several balancers: the same tables, and flows that survive the loss of one."""

import time

import pytest
from labkit import process, traffic, view
from labkit.plan import DEFAULT_SERVICE, ROUTED

import paths


@pytest.mark.parametrize("path", paths.BOTH)
def test_flows_go_on_when_a_balancer_leaves(make_lab, path):
    lab = make_lab(balancers=2, **path)
    view.wait_all_up(lab)
    assert view.digest_of(lab, node="lb1") == view.digest_of(lab, node="lb2")
    flows = traffic.Traffic(lab, DEFAULT_SERVICE, rate=40, keep=8)
    try:
        process.wait_for("long-lived connections", lambda: len(flows.kept()) == 16)
        second = lab.plan.node("lb2")
        for routed, gateway in zip(ROUTED, (second.ipv4, second.ipv6)):
            status, _, err = lab.run("router", ["ip", "route", "replace", routed, "via", gateway])
            assert status == 0, err
        left = time.monotonic()
        time.sleep(2)
        process.wait_for("answers to all", lambda: all(one.answers[-1] > left for one in flows.kept().values()))
    finally:
        flows.stop()
    assert traffic.failures(flows.requests()) == []
    kept = flows.kept().values()
    assert [one for one in kept if one.error or len(one.backends) != 1] == []
