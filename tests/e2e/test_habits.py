# SPDX-License-Identifier: BSD-2-Clause
"""The daemons as processes of the system: service manager, privileges, logs, their end."""

import glob
import json
import os
import pwd
import signal
import socket
import subprocess
import time

import pytest
from labkit import process, traffic, view
from labkit.plan import DEFAULT_SERVICE

import paths
from conftest import BUILD

# <linux/capability.h>
NET_BIND_SERVICE, NET_ADMIN, NET_RAW, IPC_LOCK, PERFMON, BPF = 10, 12, 13, 14, 38, 39
CONTROL = {NET_BIND_SERVICE, NET_ADMIN, NET_RAW, PERFMON, BPF}
DATAPLANE = {NET_ADMIN, NET_RAW, IPC_LOCK, BPF}
WATCHDOG_MS = 2000


class Manager:
    """What a service manager hears, on a real datagram socket."""

    def __init__(self, folder):
        self.path = f"{folder}/notify.sock"
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(self.path)
        self.socket.setblocking(False)
        self.heard = []

    def listen(self):
        while True:
            try:
                self.heard.append(self.socket.recv(4096).decode().split("\n"))
            except BlockingIOError:
                return self.heard

    def wait(self, line, patience=process.PATIENCE):
        process.wait_for(f'"{line}"', lambda: any(line in message for message in self.listen()), patience)

    def count(self, line):
        return sum(line in message for message in self.listen())


@pytest.fixture
def manager(tmp_path, monkeypatch):
    made = Manager(tmp_path)
    monkeypatch.setenv("NOTIFY_SOCKET", made.path)
    monkeypatch.setenv("WATCHDOG_USEC", str(WATCHDOG_MS * 1000))
    yield made
    made.socket.close()


def capabilities(pid):
    """What each thread may do, and what it could get: sets of numbers by thread and kind."""
    found = {}
    for path in glob.glob(f"/proc/{pid}/task/*/status"):
        with open(path, encoding="ascii", errors="replace") as stream:
            lines = dict(line.split(":", 1) for line in stream)
        for kind in ("CapEff", "CapPrm", "CapInh"):
            mask = int(lines[kind], 16)
            found[path.split("/")[4], kind] = {bit for bit in range(64) if mask >> bit & 1}
    return found


@pytest.fixture(scope="module", params=paths.BOTH)
def lab(request, make_module_lab):
    made = make_module_lab(**request.param)
    view.wait_all_up(made)
    return made


def restart(lab, program):
    if lab.pid("lb1", program):
        lab.stop("lb1", program)
    lab.start("lb1", program)


def programs(lab):
    return ["control"] if lab.options.port.path == "xdp" else ["control", "dataplane"]


def test_a_service_manager_hears_ready_the_watchdog_and_the_end(lab, manager):
    for program in programs(lab):
        manager.heard.clear()
        restart(lab, program)
        manager.wait("READY=1")
        # Before half of the time that the manager allows is over.
        fed = manager.count("WATCHDOG=1")
        process.wait_for("two beats", lambda: manager.count("WATCHDOG=1") >= fed + 2)
        lab.stop("lb1", program)
        assert manager.count("STOPPING=1") == 1
        lab.start("lb1", program)


def test_a_daemon_that_stands_still_feeds_no_watchdog(lab, manager):
    program = programs(lab)[-1]
    restart(lab, program)
    manager.wait("READY=1")
    os.kill(lab.pid("lb1", program), signal.SIGSTOP)
    try:
        manager.listen()
        before = manager.count("WATCHDOG=1")
        time.sleep(WATCHDOG_MS / 1000)
        assert manager.count("WATCHDOG=1") == before
    finally:
        os.kill(lab.pid("lb1", program), signal.SIGCONT)


def test_a_reload_is_told_to_the_manager(lab, manager):
    restart(lab, "control")
    manager.wait("READY=1")
    manager.heard.clear()
    os.kill(lab.pid("lb1", "control"), signal.SIGHUP)
    manager.wait("RELOADING=1")
    manager.wait("READY=1")
    assert any(line.startswith("MONOTONIC_USEC=") for message in manager.heard for line in message)


def test_every_thread_keeps_only_what_its_work_needs(lab):
    allowed = {"control": CONTROL, "dataplane": DATAPLANE}
    for program in programs(lab):
        pid = lab.pid("lb1", program)
        found = capabilities(pid)
        assert len({thread for thread, _ in found}) > (2 if program == "dataplane" else 0)
        for (thread, kind), has in found.items():
            wanted = set() if kind == "CapInh" else allowed[program]
            assert has == wanted, (program, thread, kind)


def test_what_is_left_is_enough_for_a_reload_a_restart_and_traffic(lab):
    flows = traffic.Traffic(lab, DEFAULT_SERVICE, rate=50, keep=2)
    try:
        process.wait_for("traffic", lambda: len(flows.requests()) > 20)
        os.kill(lab.pid("lb1", "control"), signal.SIGHUP)
        assert lab.run("lb1", ["guideway", "backend", "drain", "b1"])[0] == 0
        process.wait_for("b1 to be out", lambda: "b1" not in view.table_read(lab).slots)
        assert lab.run("lb1", ["guideway", "backend", "enable", "b1"])[0] == 0
        digest = view.digest_of(lab)
        restart(lab, "control")
        process.wait_for("the same table", lambda: view.digest_of(lab) == digest)
        view.wait_all_up(lab)
    finally:
        flows.stop()
    assert traffic.failures(flows.requests()) == []


def control_by_hand(lab, *options):
    """guideway-control as the lab starts it, with options more: argv and environment."""
    node = lab.plan.node("lb1")
    command = [
        process.program_find(BUILD, "guideway-control"),
        *("-c", lab.config_path(node)),
        *("--state-dir", f"{lab.node_dir(node)}/state"),
        *("--pin-dir", lab.pin_dir(node)),
        *("--dataplane-socket", lab.dataplane_socket(node)),
        *options,
    ]
    return lab.command("lb1", command)


class ByHand:
    """A control daemon with options of its own, in the place of the lab's."""

    def __init__(self, lab, log, *options):
        self.lab = lab
        argv, env = control_by_hand(lab, *options)
        lab.stop("lb1", "control")
        self.pid = process.spawn(argv, str(log), env)
        try:
            process.wait_for("control to serve", self.serves)
        except BaseException:
            self.__exit__()
            raise

    def serves(self):
        return self.lab.run("lb1", ["guideway", "status"])[0] == 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        process.end(self.pid)
        self.lab.start("lb1", "control")


def test_json_logs_have_an_object_a_line_and_the_transition_in_fields(lab, tmp_path):
    log = tmp_path / "log"
    with ByHand(lab, log, "--log-format", "json"):
        assert lab.run("lb1", ["guideway", "backend", "drain", "b2", "--reason", 'a "quoted" \\ word'])[0] == 0
        assert lab.run("lb1", ["guideway", "backend", "enable", "b2"])[0] == 0
        lab.run("lb1", ["guideway", "override", "clear", "--all"])
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert all({"time", "level", "program", "message"} <= set(line) for line in lines)
    drains = [line for line in lines if line.get("kind") == "override" and line.get("to") == "drain"]
    assert [line["subject"] for line in drains] == ["web/b2"]
    assert 'a "quoted" \\ word' in drains[0]["why"]


def test_another_user_can_run_control(lab, tmp_path):
    log = tmp_path / "log"
    nobody = pwd.getpwnam("nobody").pw_uid
    if lab.options.port.path == "dpdk":  # as the units' group does
        os.chown(lab.dataplane_socket(lab.plan.node("lb1")), -1, pwd.getpwnam("nobody").pw_gid)
    with ByHand(lab, log, "--user", "nobody") as control:
        with open(f"/proc/{control.pid}/status", encoding="ascii", errors="replace") as stream:
            lines = dict(line.split(":", 1) for line in stream)
        assert set(lines["Uid"].split()) == {str(nobody)}
        assert {frozenset(has) for (_, kind), has in capabilities(control.pid).items() if kind == "CapEff"} == {
            frozenset(CONTROL)
        }
        assert lab.run("lb1", ["guideway", "backend", "drain", "b3"])[0] == 0
        assert lab.run("lb1", ["guideway", "override", "clear", "--all"])[0] == 0
        view.wait_all_up(lab)
        node = lab.plan.node("lb1")
        folders = (f"{lab.node_dir(node)}/state", lab.node_dir(node), lab.pin_dir(node))
        assert {os.stat(folder).st_uid for folder in folders} == {nobody}
        subprocess.run(["chown", "-R", "root:root", *folders], check=True)
    view.wait_all_up(lab)


def node_state(lab):
    return lab.json("lb1", ["guideway", "status"])["node_state"]


def test_a_drained_node_forwards_on_and_stays_drained_after_a_restart(lab):
    assert node_state(lab)["state"] == "serving"
    status, out, err = lab.run("lb1", ["guideway", "node", "drain", "--reason", "new memory"])
    assert status == 0, err
    try:
        assert "drained" in out
        assert lab.run("client", ["curl", "-sf", "--max-time", "20", f"http://{DEFAULT_SERVICE[0]}/"])[0] == 0
        restart(lab, "control")
        state = node_state(lab)
        assert (state["state"], state["announces"], state["why"]) == ("drained", False, "new memory")
        assert "drained" in lab.run("lb1", ["guideway", "status"])[1]
    finally:
        assert lab.run("lb1", ["guideway", "node", "undrain"])[0] == 0
    assert node_state(lab)["announces"] is True


def test_sigterm_withdraws_waits_for_flows_and_leaves(lab, tmp_path):
    node = lab.plan.node("lb1")
    with open(lab.config_path(node), encoding="utf-8") as stream:
        text = stream.read()
    with open(lab.config_path(node), "w", encoding="utf-8") as stream:
        stream.write(text + "shutdown: {drain: 60s}\n")
    flows = traffic.Traffic(lab, DEFAULT_SERVICE, rate=5, keep=2)
    try:
        restart(lab, "control")
        count = ["guideway", "flow", "count"]
        process.wait_for("flows to be counted", lambda: lab.json("lb1", count)["active"] > 0)
        pid = lab.pid("lb1", "control")
        os.kill(pid, signal.SIGTERM)
        process.wait_for("the node to leave", lambda: node_state(lab)["state"] == "leaving")
        time.sleep(1.5)
        assert process.alive(pid), "it waits while there are flows"
        assert traffic.failures(flows.requests()) == []
        # The operator does not want to wait any longer.
        os.kill(pid, signal.SIGTERM)
        process.wait_for("the end", lambda: not process.alive(pid))
    finally:
        flows.stop()
        with open(lab.config_path(node), "w", encoding="utf-8") as stream:
            stream.write(text)
    lab.start("lb1", "control")
    assert node_state(lab)["state"] == "serving"
