# SPDX-License-Identifier: BSD-2-Clause
"""Next hops are followed live, though traffic past the kernel never refreshes its neighbours."""

import time

import pytest
from labkit import process, traffic, view
from labkit.plan import DEFAULT_SERVICE

import paths

SLACK = 0.5


@pytest.mark.parametrize("path", paths.BOTH)
def test_a_backend_that_changes_its_mac_without_a_word_is_followed(make_lab, path):
    lab = make_lab(**path)
    view.wait_all_up(lab)
    flows = traffic.Traffic(lab, DEFAULT_SERVICE, rate=50, keep=10)
    try:
        process.wait_for("long-lived connections", lambda: len(flows.kept()) == 20)
        interface = lab.plan.node("b2").interface
        changed = time.monotonic()
        change = ["ip", "link", "set", interface, "address", "02:00:00:00:bb:02"]
        status, _, err = lab.run("b2", change)
        assert status == 0, err
        process.wait_for("b2 to answer again", lambda: "b2" in traffic.shares(flows.requests(after=changed + SLACK)))
        followed = time.monotonic()
        assert followed - changed < 20, "that is the kernel's own pace"
        time.sleep(3)
        process.wait_for("answers to all", lambda: all(one.answers[-1] > followed for one in flows.kept().values()))
        assert view.health_of(lab, "b2") == "up"
    finally:
        flows.stop()
    late = [r for r in traffic.failures(flows.requests()) if r["begin"] > followed + SLACK]
    assert late == []
    assert "b2" in traffic.shares(flows.requests(after=followed + SLACK))
    kept = flows.kept().values()
    assert [one for one in kept if one.error or len(one.backends) != 1] == []
