# SPDX-License-Identifier: BSD-2-Clause
"""What is XDP's own: attaching, refusing, pins."""

import os
import signal
import time

import pytest
from labkit import process, traffic, view
from labkit.plan import DEFAULT_SERVICE, LabError


def attached(lab):
    """`ip link` on the balancer's interface: xdp is native, xdpgeneric generic."""
    return lab.run("lb1", ["ip", "link", "show", "eth1"])[1]


@pytest.mark.parametrize("mode,word", [("native", " xdp "), ("auto", " xdp "), ("generic", "xdpgeneric")])
def test_the_mode_asked_for_is_the_mode_used(make_lab, mode, word):
    lab = make_lab(xdp_mode=mode)
    assert word in attached(lab)


def test_a_foreign_program_is_named_and_left_alone(make_lab):
    lab = make_lab(start=False)
    foreign = f"{lab.options.build}/bpf/pass.bpf.o"
    command = ["ip", "link", "set", "dev", "eth1", "xdpdrv", "obj", foreign, "sec", "xdp.frags"]
    assert lab.run("lb1", command)[0] == 0
    try:
        lab.start("lb1", "control")
    except LabError:
        pass  # ending is as right as staying without a datapath; the message is what counts

    def named():
        with open(lab.log_path(lab.plan.node("lb1"), "control"), encoding="utf-8") as stream:
            return "gw_pass" in stream.read()

    process.wait_for("gw_pass in the log", named)
    status, out, _ = lab.run("lb1", ["bpftool", "net", "show"])
    assert status == 0
    shown = lab.run("lb1", ["bpftool", "-j", "prog", "show"])[1]
    assert "gw_pass" in shown
    assert " xdp " in attached(lab), out


def test_pins_outlive_control_and_forwarding_with_them(make_lab):
    lab = make_lab()
    view.wait_all_up(lab)
    flows = traffic.Traffic(lab, DEFAULT_SERVICE, rate=50, keep=4)
    process.wait_for("traffic", lambda: len(flows.kept()) == 8 and len(flows.requests()) > 50)
    lab.stop("lb1", "control", signal.SIGTERM)
    assert os.listdir(lab.pin_dir(lab.plan.node("lb1")))
    gone = time.monotonic()
    # longer than a heartbeat stays fresh: next hops then come from the kernel's own tables
    time.sleep(6)
    process.wait_for("400 requests", lambda: len(flows.requests(after=gone)) > 400)
    flows.stop()
    assert traffic.failures(flows.requests()) == []
    assert [one for one in flows.kept().values() if one.error] == []
