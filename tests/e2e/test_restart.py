# SPDX-License-Identifier: BSD-2-Clause
"""A daemon dies without a word, under traffic, and comes back."""

import signal
import time

import pytest
from labkit import process, traffic, view
from labkit.plan import DEFAULT_SERVICE

import paths


def flows_start(lab):
    running = traffic.Traffic(lab, DEFAULT_SERVICE, rate=50, keep=6)
    process.wait_for("traffic", lambda: len(running.requests()) > 50)
    return running


def unhurt(flows):
    """Nothing failed, and no long-lived connection broke, stalled or changed its backend."""
    assert traffic.failures(flows.requests()) == []
    kept = flows.kept().values()
    assert len(kept) == 12
    assert [one for one in kept if one.error or len(one.backends) != 1] == []


@pytest.mark.parametrize("path", paths.BOTH)
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_without_control_packets_go_on_and_its_return_moves_no_flow(make_lab, path, how):
    lab = make_lab(**path)
    view.wait_all_up(lab)
    digest = view.digest_of(lab)
    flows = flows_start(lab)
    try:
        lab.stop("lb1", "control", how)
        gone = time.monotonic()
        time.sleep(3)
        process.wait_for("traffic without control", lambda: len(flows.requests(after=gone)) > 100)
        lab.start("lb1", "control")
        back = time.monotonic()
        assert view.digest_of(lab) == digest  # at once: nothing emptier is ever published
        view.wait_all_up(lab)
        time.sleep(2)
        assert view.digest_of(lab) == digest
        process.wait_for("traffic with it again", lambda: len(flows.requests(after=back)) > 100)
    finally:
        flows.stop()
    unhurt(flows)


@pytest.mark.parametrize("path", paths.BOTH)
def test_health_and_drains_survive_control(make_lab, path):
    lab = make_lab(**path)
    view.wait_all_up(lab)
    lab.stop("b1", "nginx", signal.SIGKILL)
    assert lab.run("lb1", ["guideway", "backend", "drain", "b2"])[0] == 0
    process.wait_for("only b3 to have slots", lambda: set(view.table_read(lab).slots) == {"b3"})
    time.sleep(0.5)  # the state file is written behind
    lab.stop("lb1", "control", signal.SIGKILL)
    lab.start("lb1", "control")
    assert set(view.table_read(lab).slots) == {"b3"}
    flows = traffic.Traffic(lab, DEFAULT_SERVICE, rate=50, keep=0)
    process.wait_for("traffic", lambda: len(flows.requests()) > 150)
    flows.stop()
    assert traffic.failures(flows.requests()) == []
    assert traffic.shares(flows.requests()) == {"b3": 1.0}


@pytest.mark.parametrize("path", [paths.DPDK_AF_XDP, paths.DPDK_AF_PACKET])
def test_a_dataplane_that_died_gets_the_tables_again(make_lab, path):
    lab = make_lab(**path)
    view.wait_all_up(lab)
    lab.stop("lb1", "dataplane", signal.SIGKILL)
    command = ["curl", "-s", "--max-time", "1", f"http://{DEFAULT_SERVICE[0]}/"]
    assert lab.run("client", command)[0] == 28
    lab.start("lb1", "dataplane")
    process.wait_for("service", lambda: lab.run("client", command)[0] == 0, interval=0.1)
    flows = traffic.Traffic(lab, DEFAULT_SERVICE, rate=50, keep=0)
    process.wait_for("traffic", lambda: len(flows.requests()) > 150)
    flows.stop()
    assert traffic.failures(flows.requests()) == []
    assert sorted(traffic.shares(flows.requests())) == ["b1", "b2", "b3"]
