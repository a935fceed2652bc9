# SPDX-License-Identifier: BSD-2-Clause
"""`guideway flow list`, waiting for a drain, and the bundle, with real connections."""

import json
import os
import subprocess
import tarfile

import pytest
from labkit import process, view
from labkit.plan import DEFAULT_SERVICE

import paths

CONNECT = """
import socket, sys, time
made = []
for i in range(int(sys.argv[3])):
    made.append(socket.create_connection((sys.argv[1], 80), source_address=("", int(sys.argv[2]) + i)))
    made[-1].sendall(b"GET / HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n")
    made[-1].recv(4096)
print("connected", flush=True)
sys.stdin.read()
"""


@pytest.fixture(scope="module", params=paths.BOTH)
def lab(request, make_module_lab):
    made = make_module_lab(**request.param, backends=2)
    view.wait_all_up(made)
    return made


class Connections:
    """Connections of the client that stay open until they are closed."""

    def __init__(self, lab, address, first, count):
        argv, env = lab.command("client", ["/usr/bin/python3", "-c", CONNECT, address, str(first), str(count)])
        self.child = subprocess.Popen(argv, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self.child.stdout.readline() == "connected\n"

    def close(self):
        if self.child.poll() is None:
            self.child.stdin.close()
            self.child.wait(10)
        self.child.stdout.close()


@pytest.fixture
def connect(lab):
    made = []

    def start(address, first, count):
        made.append(Connections(lab, address, first, count))
        return made[-1]

    yield start
    for one in made:
        one.close()


def listed(lab, *words):
    return lab.json("lb1", ["guideway", "flow", "list", *words])


def test_the_sample_has_addresses_and_agrees_with_the_flow_table(lab, connect):
    connect(DEFAULT_SERVICE[0], 42000, 10)
    connect(DEFAULT_SERVICE[1], 43000, 10)
    answer = listed(lab)
    assert answer["sample"] is True and answer["places"] >= 1000
    mine = [one for one in answer["flows"] if ":42" in one["flow"] or ":43" in one["flow"]]
    # One place may have been taken by another flow; not many.
    assert len(mine) >= 18
    wanted = {f"tcp 10.81.0.2:{42000 + i} {DEFAULT_SERVICE[0]}:80" for i in range(10)}
    wanted |= {f"tcp [fd81::2]:{43000 + i} [{DEFAULT_SERVICE[1]}]:80" for i in range(10)}
    assert {one["flow"] for one in mine} <= wanted
    for one in mine:
        shown = lab.json("lb1", ["guideway", "flow", "show", one["flow"]])
        assert (shown["backend"], shown["state"]) == (one["backend"], "established")
        assert 0 <= one["since"] < 60
    text = lab.run("lb1", ["guideway", "flow", "list"])[1]
    assert "A sample" in text and "10.81.0.2:42000" in text or "10.81.0.2:42001" in text


def test_the_sample_can_be_limited_and_asked_for_one_backend(lab, connect):
    connect(DEFAULT_SERVICE[0], 44000, 40)
    answer = listed(lab, "--limit", "3")
    assert len(answer["flows"]) == 3 and answer["whole"] is False
    for name in ("b1", "web/b2"):
        flows = listed(lab, name)["flows"]
        assert {one["backend"] for one in flows} == {name[-2:]}
    assert lab.run("lb1", ["guideway", "flow", "list", "--limit", "0"])[0] == 0  # as if not given
    assert lab.run("lb1", ["guideway", "flow", "list", "--limit", "5000"])[0] == 2
    for name in ("b9", "web/b9", "nope/b1"):
        assert lab.run("lb1", ["guideway", "flow", "list", name])[0] == 4, name


def test_a_flow_that_is_not_there_any_more_is_not_listed(lab, connect):
    connections = connect(DEFAULT_SERVICE[0], 45000, 1)
    name = f"tcp 10.81.0.2:45000 {DEFAULT_SERVICE[0]}:80"
    states = {one["flow"]: one["state"] for one in listed(lab)["flows"]}
    assert states[name] == "established"
    connections.close()
    process.wait_for(
        "its end", lambda: {one["flow"]: one["state"] for one in listed(lab)["flows"]}.get(name) != "established"
    )


def state_of(lab, name):
    return {one["name"]: one["state"] for one in lab.json("lb1", ["guideway", "backend", "list"])}[name]


def drain_wait(lab, *options):
    argv, env = lab.command("lb1", ["guideway", "backend", "drain", "b1", "--wait", *options])
    return subprocess.Popen(argv, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_drain_wait_returns_when_the_flows_have_ended(lab, connect):
    connections = connect(DEFAULT_SERVICE[0], 46000, 40)
    flows = lab.json("lb1", ["guideway", "flow", "list", "b1"])["flows"]
    assert [one for one in flows if ":460" in one["flow"]], "some of forty go to b1"
    try:
        waiting = drain_wait(lab, "--timeout", "2s")
        _, err = waiting.communicate(timeout=60)
        assert waiting.returncode == 1
        assert "active flows" in err and "goes on draining" in err
        waiting = drain_wait(lab, "--timeout", "2s", "--until-flows", "1000")
        _, err = waiting.communicate(timeout=60)
        assert waiting.returncode == 1 and "before its flows could be counted" in err
        assert lab.run("lb1", ["guideway", "backend", "enable", "b1"])[0] == 0
        waiting = drain_wait(lab, "--timeout", "50s")
        process.wait_for("the drain", lambda: state_of(lab, "b1") == "drain")
        assert lab.run("lb1", ["guideway", "backend", "enable", "b1"])[0] == 0
        _, err = waiting.communicate(timeout=45)
        assert waiting.returncode == 1 and "ended the drain" in err
        if lab.options.port.path == "dpdk":
            return  # the rest takes two walks through the flow table, and the paths differ in nothing
        waiting = drain_wait(lab, "--until-flows", "1000", "--json")
        out, err = waiting.communicate(timeout=60)
        assert waiting.returncode == 0, err
        answer = json.loads(out)
        assert answer["state"].startswith("drain") and answer["waited_ms"] >= 10000
    finally:
        lab.run("lb1", ["guideway", "override", "clear", "--all"])
        connections.close()


def bundle_read(path):
    with tarfile.open(path) as archive:
        names = archive.getnames()
        assert len({name.split("/")[0] for name in names}) == 1
        return {name.split("/")[1]: archive.extractfile(name).read().decode() for name in names}


def test_a_bundle_has_what_an_incident_report_needs_and_no_secret(lab, tmp_path):
    path = tmp_path / "out.tar.gz"
    status, out, err = lab.run("lb1", ["guideway", "bundle", "--output", str(path)])
    assert (status, out, err) == (0, f"{path}\n", "")
    assert os.stat(path).st_mode & 0o777 == 0o600
    files = bundle_read(path)
    for name in ("status", "config", "services", "backends", "pools", "drops", "events", "doctor", "flows"):
        assert json.loads(files[f"{name}.json"]), name
    assert "guideway " in files["versions.txt"] and "missing.json" not in files
    assert json.loads(files["events.json"])[0]["number"] == 1
    assert lab.run("lb1", ["guideway", "bundle", "--output", str(path)])[0] == 1  # never over another file


def test_a_bundle_without_a_daemon_has_the_rest(lab, tmp_path):
    path = tmp_path / "out.tar.gz"
    config = lab.config_path(lab.plan.node("lb1"))
    status, _, err = lab.run(
        "lb1", ["guideway", "bundle", "--socket", "/nonexistent", "--config", config, "--output", str(path)]
    )
    assert status == 0 and "without status.json" in err
    files = bundle_read(path)
    assert set(files) == {"versions.txt", "doctor.json", "missing.json"}
    assert "status.json" in json.loads(files["missing.json"])
