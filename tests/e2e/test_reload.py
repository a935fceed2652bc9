# SPDX-License-Identifier: BSD-2-Clause
"""The configuration changes under traffic: a good file is taken, a bad one refused whole."""

import os
import signal
import time

import pytest
from labkit import process, traffic, view
from labkit.plan import DEFAULT_SERVICE

import configuration
import paths

LINE_B3 = "      - {name: b3, address: 10.82.0.103, weight: 1}\n"


@pytest.fixture(params=paths.BOTH)
def lab(request, make_lab):
    made = make_lab(**request.param)
    view.wait_all_up(made)
    return made


def hangup(lab):
    os.kill(lab.pid("lb1", "control"), signal.SIGHUP)


def log_of(lab):
    with open(lab.log_path(lab.plan.node("lb1"), "control"), encoding="utf-8") as stream:
        return stream.read()


def test_good_bad_good(lab):
    whole = view.digest_of(lab)
    flows = traffic.Traffic(lab, DEFAULT_SERVICE, rate=40, keep=4)
    try:
        process.wait_for("traffic", lambda: len(flows.requests()) > 40)

        configuration.edit(lab, LINE_B3, "")
        hangup(lab)
        process.wait_for("a table without b3", lambda: "b3" not in view.table_read(lab).slots)
        smaller = view.digest_of(lab)
        assert smaller != whole

        configuration.edit(lab, "encap: ipip", "encap: ipop")
        said = len(log_of(lab))
        hangup(lab)
        process.wait_for("a complaint", lambda: "ipop" in log_of(lab)[said:])
        status, out, err = lab.run("lb1", ["guideway", "config", "reload"])
        assert status == 5 and "ipop" in out + err
        assert view.digest_of(lab) == smaller
        assert lab.run("lb1", ["guideway", "status"])[0] == 0

        configuration.edit(lab, "encap: ipop", "encap: ipip")
        configuration.edit(lab, "    backends:\n", "    backends:\n" + LINE_B3)
        assert lab.run("lb1", ["guideway", "config", "reload"])[0] == 0
        process.wait_for("the first table", lambda: view.digest_of(lab) == whole, interval=0.1)
        time.sleep(1)
    finally:
        flows.stop()
    # b3 lives all the time; what it was serving when the file dropped it may break, nothing else
    assert traffic.failures(flows.requests()) == []
    kept = flows.kept().values()
    assert [one for one in kept if one.error and one.backend != "b3"] == []


def test_a_change_elsewhere_leaves_the_tables_alone(lab):
    before = view.table_read(lab)
    configuration.edit(lab, "interval: 500ms", "interval: 700ms")
    assert lab.run("lb1", ["guideway", "config", "reload"])[0] == 0
    time.sleep(1)
    assert view.table_read(lab).digest == before.digest
    view.wait_all_up(lab)
