# SPDX-License-Identifier: BSD-2-Clause
"""guideway-control and guideway as people and scripts use them: statuses, shapes, changes by hand, plans."""

import json
import os
import signal
import subprocess

import pytest
from labkit import process, view
from labkit.plan import DEFAULT_SERVICE

import configuration
from conftest import BUILD

FLOW = f"tcp 198.51.100.7:40000 {DEFAULT_SERVICE[0]}:80"


@pytest.fixture(scope="module")
def lab(make_module_lab):
    made = make_module_lab(path="xdp")
    view.wait_all_up(made)
    return made


@pytest.fixture
def config(lab):
    """A function that replaces text in the file; the file is as before in the end, and reloaded."""
    whole = configuration.read(lab)

    def change(before, after):
        configuration.edit(lab, before, after)
        return configuration.config_file(lab)

    yield change
    configuration.write(lab, whole)
    assert guideway(lab, "config reload")[0] == 0
    guideway(lab, "override clear --all")
    view.wait_all_up(lab)


def guideway(lab, words, stdin=None):
    words = words.split() if isinstance(words, str) else words
    argv, env = lab.command("lb1", ["guideway", *words])
    done = subprocess.run(argv, env=env, input=stdin, capture_output=True, text=True, timeout=30, check=False)
    return done.returncode, done.stdout, done.stderr


def backend(lab, name):
    return lab.json("lb1", ["guideway", "backend", "show", name])


def events(lab, since=0):
    return lab.json("lb1", ["guideway", "events", "--since", str(since)])


def next_event(lab):
    listed = events(lab)
    return listed[-1]["number"] + 1 if listed else 1


@pytest.mark.parametrize(
    "words, status, quoted",
    [
        ("status", 0, ""),
        ("status --socket /nonexistent/x.sock", 3, "/nonexistent/x.sock"),
        ("service show nothing", 4, '"nothing"'),
        ("backend show nothing", 4, '"nothing"'),
        ("backend show web/nothing", 4, '"nothing"'),
        ("backend list nothing", 4, '"nothing"'),
        ("backend drain nope/b1", 4, '"nope"'),
        ("table show nothing", 4, '"nothing"'),
        ("table stats nothing", 4, '"nothing"'),
        (["flow", "show", "tcp 192.0.2.99:1 203.0.113.10:80"], 4, "192.0.2.99:1"),
        (["lookup", "tcp 192.0.2.99 203.0.113.10:80"], 2, "192.0.2.99"),
        (["lookup", "tcp 192.0.2.999:1 203.0.113.10:80"], 2, "192.0.2.999"),
        ("backend weight b1 4294967296", 2, "4294967296"),
        ("config check /nonexistent.yaml", 5, "/nonexistent.yaml"),
        ("config plan /nonexistent.yaml", 5, "/nonexistent.yaml"),
    ],
)
def test_exit_status_and_message(lab, words, status, quoted):
    got, out, err = guideway(lab, words)
    assert got == status, (out, err)
    assert quoted in err
    assert (err == "") == (status == 0)


@pytest.mark.parametrize(
    "words",
    [
        "status",
        "service list",
        "service show web",
        "backend list",
        "backend show b1",
        "override list",
        "flow count",
        "drops",
        "table show web",
        "table show web --full",
        "table stats",
        ["lookup", FLOW],
        "config dump",
        "events",
        "version",
    ],
)
def test_every_listing_has_json_and_a_text_for_people(lab, words):
    words = words.split() if isinstance(words, str) else words
    status, out, err = guideway(lab, [*words, "--json"])
    assert status == 0, err
    json.loads(out)
    status, out, err = guideway(lab, words)
    assert status == 0, err
    assert out.strip() and "\033" not in out


def test_json_has_the_fields_that_were_promised(lab):
    for row in lab.json("lb1", ["guideway", "backend", "list"]):
        assert {
            *("pool", "name", "address", "state", "health", "weight", "effective_weight", "slots"),
            *("share", "packets", "bytes", "active_flows", "since", "last_failure"),
        } <= set(row)
    drops = lab.json("lb1", ["guideway", "drops"])
    assert {"path", "rx", "tx", "to_host", "replied", "consumed", "held", "drops"} <= set(drops)
    lookup = lab.json("lb1", ["guideway", "lookup", FLOW])
    assert {
        *("service", "pool", "hash", "slot", "backend", "table_size", "table_version", "digest", "reason"),
    } <= set(lookup)
    assert len(lookup["hash"]) == 16 and lookup["hash"] == lookup["hash"].lower()


def test_a_full_table_adds_up(lab):
    table = lab.json("lb1", ["guideway", "table", "show", "web", "--full"])
    assert len(table["slots"]) == table["size"] == 65537
    for position, row in enumerate(table["backends"]):
        assert table["slots"].count(position) == row["slots"]
        assert abs(row["share"] - row["slots"] / table["size"]) < 1e-9
    slot = lab.json("lb1", ["guideway", "lookup", FLOW])
    assert table["backends"][table["slots"][slot["slot"]]]["name"] == slot["backend"]


def test_lookup_reads_one_flow_a_line(lab):
    lines = [f"tcp 198.51.100.{n}:4000 {DEFAULT_SERVICE[0]}:80" for n in range(1, 101)]
    status, out, err = guideway(lab, "lookup --json -", "\n".join(lines) + "\n")
    assert status == 0, err
    answers = [json.loads(line) for line in out.splitlines()]
    assert [one["flow"] for one in answers] == lines
    assert {one["backend"] for one in answers} == {"b1", "b2", "b3"}
    # a bad line's object says what is wrong, the others are answered
    status, out, _ = guideway(lab, "lookup --json -", f"{lines[0]}\nnonsense\n{lines[1]}\n")
    answers = [json.loads(line) for line in out.splitlines()]
    assert status == 2 and ["error" in one for one in answers] == [False, True, False]
    assert "nonsense" in answers[1]["error"]


def test_a_change_by_hand_survives_a_crash_right_after_its_answer(lab, config):
    assert guideway(lab, ["backend", "drain", "b2", "--reason", "new kernel"])[0] == 0
    lab.stop("lb1", "control", signal.SIGKILL)
    lab.start("lb1", "control")
    assert backend(lab, "b2")["state"] == "drain"
    (override,) = lab.json("lb1", ["guideway", "override", "list"])
    assert (override["pool"], override["name"], override["state"]) == ("web", "b2", "drain")
    assert override["who"] == "root" and override["why"] == "new kernel" and override["since"]
    assert guideway(lab, "override clear b2")[0] == 0
    assert backend(lab, "b2")["state"] == "active"


def test_an_override_ends_when_the_files_own_value_changes(lab, config):
    assert guideway(lab, "backend weight b1 7")[0] == 0
    config("name: b2, address: 10.82.0.102, weight: 1", "name: b2, address: 10.82.0.102, weight: 2")
    assert guideway(lab, "config reload")[0] == 0
    assert backend(lab, "b1")["weight"] == 7  # another backend's value changed
    config("name: b1, address: 10.82.0.101, weight: 1", "name: b1, address: 10.82.0.101, weight: 3")
    assert guideway(lab, "config reload")[0] == 0
    assert backend(lab, "b1")["weight"] == 3
    assert lab.json("lb1", ["guideway", "override", "list"]) == []


def test_a_plan_says_what_then_happens(lab, config):
    before = view.table_read(lab)
    path = config("name: b3, address: 10.82.0.103, weight: 1", "name: b3, address: 10.82.0.103, weight: 4")
    plan = lab.json("lb1", ["guideway", "config", "plan", path])
    (service,) = [one for one in plan["services"] if one["service"] == "web"]
    assert view.digest_of(lab) == before.digest  # nothing happened yet
    assert guideway(lab, "config reload")[0] == 0
    after = view.table_read(lab)
    moved = sum(a != b for a, b in zip(before.slots, after.slots)) / len(after.slots)
    assert abs(service["moved_share"] - moved) < 1e-6
    assert service["ideal_share"] <= service["moved_share"]
    for row in service["per_backend"]:
        assert row["slots_before"] == before.slots.count(row["name"])
        assert row["slots_after"] == after.slots.count(row["name"])
    # weight 4 of 6
    assert abs(after.slots.count("b3") / len(after.slots) - 4 / 6) < 0.01


def test_a_plan_counts_a_backend_that_is_to_join_as_healthy(lab, config):
    config("      - {name: b3, address: 10.82.0.103, weight: 1}\n", "")
    assert guideway(lab, "config reload")[0] == 0
    before = view.table_read(lab)
    path = config("    backends:\n", "    backends:\n      - {name: b3, address: 10.82.0.103, weight: 1}\n")
    plan = lab.json("lb1", ["guideway", "config", "plan", path])
    (service,) = [one for one in plan["services"] if one["service"] == "web"]
    assert guideway(lab, "config reload")[0] == 0
    process.wait_for("b3 to join", lambda: "b3" in view.table_read(lab).slots, interval=0.1)
    after = view.table_read(lab)
    moved = sum(a != b for a, b in zip(before.slots, after.slots)) / len(after.slots)
    assert moved > 0.33 and abs(service["moved_share"] - moved) < 1e-6
    assert {row["name"]: row["slots_after"] for row in service["per_backend"]} == {
        name: after.slots.count(name) for name in ("b1", "b2", "b3")}


def test_a_drain_ends_by_its_timeout(lab, config):
    config("    encap: ipip\n", "    encap: ipip\n    drain_timeout: 2s\n")
    assert guideway(lab, "config reload")[0] == 0
    since = next_event(lab)
    assert guideway(lab, "backend drain b1")[0] == 0
    assert backend(lab, "b1")["state"] == "drain"
    process.wait_for("the drain to end", lambda: backend(lab, "b1")["state"] == "disabled", interval=0.1)
    told = [one for one in events(lab, since) if one["kind"] == "drain"]
    assert [one["subject"] for one in told] == ["web/b1"]


def test_a_backend_that_joins_a_running_pool_enters_by_rise(lab, config):
    since = next_event(lab)
    config("    backends:\n", '    backends:\n      - {name: b9, address: "fd82::103", weight: 1}\n')
    assert guideway(lab, "config reload")[0] == 0
    assert backend(lab, "b9")["slots"] == 0
    process.wait_for("b9 to enter", lambda: backend(lab, "b9")["slots"] > 0, interval=0.1)
    (risen,) = [one for one in events(lab, since) if one["subject"] == "web/b9"]
    assert (risen["from"], risen["to"], risen["why"]) == ("unknown", "up", "http 200, 2 of 2")


def test_a_failing_check_is_told_with_its_cause(lab, config):
    since = next_event(lab)
    config("expect: 200-299", "expect: 300-399")  # the backends answer 200
    assert guideway(lab, "config reload")[0] == 0
    process.wait_for("all to be down", lambda: not view.backends_up(lab), interval=0.1)
    causes = {one["why"] for one in events(lab, since) if one["kind"] == "health"}
    assert causes == {"http 200, 3 of 3"}
    assert backend(lab, "b1")["last_failure"].startswith("http 200")
    status, out, _ = guideway(lab, "status")
    assert status == 0 and "no eligible backend" in out


def test_an_invalid_file_shows_in_the_status_until_it_is_mended(lab, config):
    config("encap: ipip", "encap: ipop")
    status, out, err = guideway(lab, "config reload")
    assert status == 5 and "config.yaml:" in err and "ipop" in err
    shown = lab.json("lb1", ["guideway", "status"])
    assert shown["config"]["valid"] is False and not shown["ok"]
    assert any("ipop" in line for line in shown["config"]["errors"])
    config("encap: ipop", "encap: ipip")
    assert guideway(lab, "config reload")[0] == 0
    assert lab.json("lb1", ["guideway", "status"])["ok"]


def test_events_are_followed(lab, config):
    argv, env = lab.command("lb1", ["guideway", "events", "--follow", "--json", "--since", str(next_event(lab))])
    with subprocess.Popen(argv, env=env, stdout=subprocess.PIPE, text=True) as follower:
        try:
            assert guideway(lab, "backend weight b2 5")[0] == 0
            event = json.loads(follower.stdout.readline())
        finally:
            follower.terminate()
    assert (event["kind"], event["subject"], event["to"]) == ("override", "web/b2", "weight 5")


def control(lab, *options):
    node = lab.plan.node("lb1")
    argv, env = lab.command("lb1", [f"{BUILD}/control/guideway-control", "-c", lab.config_path(node), *options])
    return subprocess.run(argv, env=env, capture_output=True, text=True, timeout=60, check=False)


def test_a_second_daemon_is_refused_and_disturbs_nothing(lab, tmp_path):
    node = lab.plan.node("lb1")
    digest = view.digest_of(lab)
    same_state = control(lab, "--state-dir", f"{lab.node_dir(node)}/state", "--pin-dir", lab.pin_dir(node))
    assert same_state.returncode == 1 and "another guideway-control" in same_state.stderr
    same_socket = control(lab, "--state-dir", str(tmp_path), "--pin-dir", lab.pin_dir(node))
    assert same_socket.returncode == 1 and "another guideway-control answers" in same_socket.stderr
    assert view.digest_of(lab) == digest
    command = ["curl", "-s", "--fail", "--max-time", "20", f"http://{DEFAULT_SERVICE[0]}/"]
    assert lab.run("client", command)[0] == 0


def test_the_api_refuses_what_it_cannot_read(lab):
    socket = lab.control_socket(lab.plan.node("lb1"))

    def ask(path, *options):
        argv = ["curl", "-s", "-w", "\n%{http_code}", "--unix-socket", socket, *options, f"http://x{path}"]
        body, status = lab.run("lb1", argv)[1].rsplit("\n", 1)
        return int(status), json.loads(body)

    for status, path, *options in [
        (404, "/v1/nothing"),
        (404, "/"),
        (404, "/v1/status/"),
        (405, "/v1/status", "-d", "{}"),
        (405, "/v1/config/reload"),
        (400, "/v1/backends/web/b1", "-d", "{"),
        (400, "/v1/backends/web/b1", "-d", "[]"),
        (400, "/v1/backends/web/b1", "-d", "{}"),
        (400, "/v1/backends/web/b1", "-d", '{"action":"explode"}'),
        (400, "/v1/backends/web/b1", "-d", '{"action":"weight","weight":-1}'),
        (400, "/v1/backends/web/b1", "-d", '{"action":"weight","weight":"1"}'),
        (404, "/v1/backends/web/b9", "-d", '{"action":"drain"}'),
        (400, "/v1/flow"),
        (400, "/v1/flow?tuple=x"),
        (400, "/v1/events?since=x"),
        (422, "/v1/config/plan", "-d", "version: 2"),
        (422, "/v1/config/plan", "-d", "include: /etc/passwd"),
    ]:
        got, body = ask(path, *options)
        assert got == status, (path, options, body)
        assert body["error"]
    # A backend that an earlier test removed may be draining yet.
    assert {backend(lab, name)["state"] for name in ("b1", "b2", "b3")} == {"active"}


def test_sigterm_ends_cleanly_and_packets_go_on(lab):
    node = lab.plan.node("lb1")
    pid = lab.pid("lb1", "control")
    lab.stop("lb1", "control", signal.SIGTERM)
    assert not process.alive(pid)
    assert not os.path.exists(lab.control_socket(node))
    assert guideway(lab, "status")[0] == 3
    command = ["curl", "-s", "--fail", "--max-time", "20", f"http://{DEFAULT_SERVICE[0]}/"]
    assert lab.run("client", command)[0] == 0
    lab.start("lb1", "control")
    view.wait_all_up(lab)
