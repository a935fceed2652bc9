# SPDX-License-Identifier: BSD-2-Clause
"""A backend dies, drains, is disabled and returns, under traffic."""

import signal
import time

import pytest
from labkit import process, traffic, view
from labkit.plan import DEFAULT_SERVICE

import paths

SLACK = 0.3
KEPT = 10  # to each address


@pytest.fixture(scope="module", params=paths.BOTH)
def lab(request, make_module_lab):
    made = make_module_lab(**request.param)
    view.wait_all_up(made)
    return made


def flows_start(lab):
    running = traffic.Traffic(lab, DEFAULT_SERVICE, rate=50, keep=KEPT)
    try:
        process.wait_for("long-lived connections", lambda: len(running.kept()) == 2 * KEPT)
    except process.LabError:
        running.stop()
        raise
    return running


@pytest.fixture
def flows(lab):
    view.wait_all_up(lab)
    running = flows_start(lab)
    # Some backend serves none of twenty once in a thousand times.
    while len({one.backend for one in running.kept().values()}) < 3:
        running.stop()
        running = flows_start(lab)
    yield running
    running.stop()


def until(lab, what, check):
    process.wait_for(what, check)
    return time.monotonic()


def broken(flows, but=()):
    """Long-lived connections that broke or changed their backend, except those of `but`."""
    return [
        kept
        for kept in flows.kept().values()
        if kept.backend not in but and (kept.error or len(kept.backends) != 1)
    ]


def test_a_dead_backend_leaves_and_returns_and_the_others_notice_nothing(lab, flows):
    before = view.table_read(lab)
    killed = time.monotonic()
    lab.stop("b2", "nginx", signal.SIGKILL)
    until(lab, "b2 to be down", lambda: view.health_of(lab, "b2") == "down")
    swapped = until(lab, "the table to change", lambda: view.digest_of(lab) != before.digest and view.in_force(lab))
    time.sleep(SLACK)
    quiet = view.decapsulated(lab, "b2")
    time.sleep(1.5)
    assert view.decapsulated(lab, "b2") == quiet
    after = view.table_read(lab)
    assert "b2" not in after.slots
    moved = sum(a != b and a != "b2" for a, b in zip(before.slots, after.slots))
    assert moved < len(after.slots) / 100

    lab.start("b2", "nginx")
    until(lab, "the old table", lambda: view.digest_of(lab) == before.digest)
    back = time.monotonic()
    until(lab, "b2 to answer", lambda: "b2" in traffic.shares(flows.requests(after=back)))
    flows.stop()
    outside = [
        request
        for request in traffic.failures(flows.requests())
        if request["end"] < killed or request["begin"] > swapped + SLACK
    ]
    assert outside == []
    assert broken(flows, but={"b2"}) == []


def test_draining_takes_new_flows_away_and_keeps_old_ones(lab, flows):
    assert lab.run("lb1", ["guideway", "backend", "drain", "b3"])[0] == 0
    until(lab, "b3 to lose its slots", lambda: "b3" not in view.table_read(lab).slots and view.in_force(lab))
    begun = time.monotonic() + SLACK
    time.sleep(2)
    try:
        assert "b3" not in traffic.shares(flows.requests(after=begun))
        assert broken(flows) == []
        answered = [number for number, kept in flows.kept().items() if kept.backend == "b3"]
        until(lab, "its answers", lambda: all(flows.kept()[number].answers[-1] > begun for number in answered))
        assert answered
    finally:
        assert lab.run("lb1", ["guideway", "backend", "enable", "b3"])[0] == 0
    view.wait_all_up(lab)
    back = time.monotonic()
    until(lab, "b3 to answer", lambda: "b3" in traffic.shares(flows.requests(after=back)))
    flows.stop()
    assert traffic.failures(flows.requests()) == []
    assert broken(flows) == []


def test_disabling_moves_tracked_flows_too(lab, flows):
    assert lab.run("lb1", ["guideway", "backend", "disable", "b1"])[0] == 0
    try:
        until(lab, "b1 to lose its slots", lambda: "b1" not in view.table_read(lab).slots and view.in_force(lab))
        time.sleep(SLACK)
        quiet = view.decapsulated(lab, "b1")
        time.sleep(1)
        assert view.decapsulated(lab, "b1") == quiet
        assert broken(flows, but={"b1"}) == []
    finally:
        assert lab.run("lb1", ["guideway", "backend", "enable", "b1"])[0] == 0


def test_no_backend_at_all_is_counted_and_forgotten_when_one_returns(lab):
    for name in ("b1", "b2", "b3"):
        lab.stop(name, "nginx", signal.SIGKILL)
    until(lab, "all to be down", lambda: not view.backends_up(lab))
    before = view.drops_of(lab).get("no_backend", 0)
    command = ["curl", "-s", f"http://{DEFAULT_SERVICE[0]}/", "--max-time"]
    assert lab.run("client", [*command, "1"])[0] == 28
    assert view.drops_of(lab).get("no_backend", 0) > before
    for name in ("b1", "b2", "b3"):
        lab.start(name, "nginx")
    view.wait_all_up(lab)
    assert lab.run("client", [*command, "20"])[0] == 0
