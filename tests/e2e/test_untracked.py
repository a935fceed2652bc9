# SPDX-License-Identifier: BSD-2-Clause
"""A reload tells a service to track no flows, and to track them again, under real connections, on both paths."""

import os
import signal

import pytest
from labkit import process, traffic, view
from labkit.plan import DEFAULT_SERVICE

import configuration
import paths

TRACKED = "ports: [80], pool: web"
UNTRACKED = "ports: [80], pool: web, track_flows: false"
FLOW = f"tcp 198.51.100.7:40000 {DEFAULT_SERVICE[0]}:80"
KEPT = 60  # that some backend serves none of them: once in 10^10 runs


@pytest.fixture(params=paths.BOTH)
def lab(request, make_lab):
    made = make_lab(**request.param)
    view.wait_all_up(made)
    return made


def service_becomes(lab, before, after, tracked):
    configuration.edit(lab, before, after)
    os.kill(lab.pid("lb1", "control"), signal.SIGHUP)
    process.wait_for("the service to change", lambda: lab.json(
        "lb1", ["guideway", "service", "show", "web", "--json"])["track_flows"] == tracked)
    process.wait_for("the datapath to take it", lambda: view.in_force(lab))


def counters(lab):
    return lab.json("lb1", ["guideway", "drops", "--json"])


def alive(flows):
    return {number: one for number, one in flows.kept().items() if not one.error}


def test_tracking_ends_and_begins_with_a_reload(lab):
    flows = traffic.Traffic(lab, DEFAULT_SERVICE[:1], rate=30, keep=KEPT, interval=0.3)
    try:
        process.wait_for("connections to all backends", lambda: len(flows.kept()) == KEPT and {
            one.backend for one in flows.kept().values() if one.answers} == {"b1", "b2", "b3"})
        tracked = counters(lab)
        assert tracked["flows_new"] > 0

        service_becomes(lab, TRACKED, UNTRACKED, False)
        said = lab.json("lb1", ["guideway", "lookup", "--json", FLOW])
        assert said["reason"] == "table_only" and "does not track flows" in said["explanation"]
        status, _, error = lab.run("lb1", ["guideway", "flow", "show", FLOW])
        assert status == 4 and "does not track flows" in error
        before = counters(lab)
        process.wait_for("packets by the table", lambda: counters(lab)["tx"] > before["tx"] + 300)
        after = counters(lab)
        assert (after["flows_new"], after["untracked"]) == (before["flows_new"], before["untracked"])
        # The table is as it was, and so every connection is where it was.
        assert [one.error for one in flows.kept().values() if one.error] == []

        # Who drains loses his connections at once; a new request never goes there.
        homes = {number: one.backend for number, one in flows.kept().items()}
        lost = {number for number, home in homes.items() if home == "b3"}
        status, _, error = lab.run("lb1", ["guideway", "backend", "drain", "web/b3"])
        assert status == 0, error
        process.wait_for("b3's connections to break", lambda: not lost & set(alive(flows)))
        assert {one.backend for one in alive(flows).values()} <= {"b1", "b2"}
        lab.run("lb1", ["guideway", "backend", "enable", "web/b3"])
        view.wait_all_up(lab)

        service_becomes(lab, UNTRACKED, TRACKED, True)
        before = counters(lab)
        process.wait_for("flows that are tracked", lambda: counters(lab)["flows_new"] > before["flows_new"] + 20)
        assert lab.json("lb1", ["guideway", "lookup", "--json", FLOW])["reason"] == "table"
        assert counters(lab)["untracked"] == tracked["untracked"]
    finally:
        flows.stop()
