# SPDX-License-Identifier: BSD-2-Clause
"""Which configuration is in use: removed backends drain, files of members are followed, and there is a way back."""

import datetime
import json
import os
import signal
import time

import pytest
from labkit import process, traffic, view
from labkit.plan import DEFAULT_SERVICE

import paths
from configuration import config_file, edit, read, write

LINE_B3 = "      - {name: b3, address: 10.82.0.103, weight: 1}\n"


@pytest.fixture(scope="module", params=paths.BOTH)
def shared(request, make_module_lab):
    made = make_module_lab(**request.param)
    return made, read(made)


@pytest.fixture
def lab(shared):
    """The module's lab with its first file in use and nothing left of the test before."""
    made, text = shared
    if not made.pid("lb1", "control"):
        made.start("lb1", "control")
    write(made, text)
    guideway(made, "config", "reload", "--accept-moves")
    process.wait_for("removed backends to go", lambda: len(listed(made)) == 3, interval=0.1)
    view.wait_all_up(made)
    return made


def guideway(lab, *words, expect=0):
    status, out, err = lab.run("lb1", ["guideway", *words])
    assert status == expect, out + err
    return out + err


def listed(lab):
    return {one["name"]: one for one in lab.json("lb1", ["guideway", "backend", "list"])}


def status_of(lab):
    return lab.json("lb1", ["guideway", "status"])


def wall(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def version(lab):
    return lab.json("lb1", ["guideway", "table", "history"])[0]["version"]


def weights(lab):
    return {name: one["weight"] for name, one in listed(lab).items()}


def test_a_removed_backend_drains_and_then_goes(lab):
    edit(lab, "    encap: ipip\n", "    encap: ipip\n    drain_timeout: 6s\n")
    guideway(lab, "config", "reload")
    flows = traffic.Traffic(lab, DEFAULT_SERVICE, rate=20, keep=30)  # that none is on b3: once in 10^10 runs
    try:
        process.wait_for("kept connections", lambda: len(flows.kept()) == 60)
        held = [one for one in flows.kept().values() if one.backends == ["b3"]]
        edit(lab, LINE_B3, "")
        guideway(lab, "config", "reload")
        removed = time.monotonic()
        one = listed(lab)["b3"]
        assert one["state"] == "drain" and one["removed"] and not one["slots"]
        assert "removed from the configuration" in one["reason"]
        assert guideway(lab, "backend", "enable", "web/b3", expect=4)
        time.sleep(2)
        assert [one for one in flows.kept().values() if one.error] == []
        assert [one for one in flows.requests(after=removed + 1) if one.get("backend") == "b3"] == []
        process.wait_for("b3 to go", lambda: "b3" not in listed(lab))
        assert time.monotonic() - removed > 5.5
    finally:
        flows.stop()
    assert traffic.failures(flows.requests()) == []
    assert held  # connections on b3 lived through its drain


def test_a_removed_backend_drains_on_over_a_restart(lab):
    edit(lab, LINE_B3, "")
    guideway(lab, "config", "reload")
    until = wall(listed(lab)["b3"]["drain_until"])
    lab.stop("lb1", "control", signal.SIGKILL)
    lab.start("lb1", "control")
    one = listed(lab)["b3"]
    assert one["state"] == "drain" and abs(wall(one["drain_until"]) - until) < 0.5
    # it comes back as what it was: known to be healthy
    edit(lab, "    backends:\n", "    backends:\n" + LINE_B3)
    guideway(lab, "config", "reload")
    assert listed(lab)["b3"]["slots"] > 0


def test_an_unchanged_file_changes_nothing(lab):
    before = version(lab)
    assert "nothing changes" in guideway(lab, "config", "reload")
    os.kill(lab.pid("lb1", "control"), signal.SIGHUP)
    time.sleep(0.3)
    assert version(lab) == before
    edit(lab, "encap: ipip", "encap: ipop")
    guideway(lab, "config", "reload", expect=5)
    assert not status_of(lab)["config"]["valid"]
    edit(lab, "encap: ipop", "encap: ipip")
    guideway(lab, "config", "reload")
    assert status_of(lab)["config"]["valid"] and not status_of(lab)["config"]["errors"]
    assert version(lab) == before


def test_moving_everybody_must_be_accepted(lab):
    digest = view.digest_of(lab)
    edit(lab, "    encap: ipip\n", "    encap: ipip\n    table_size: 1021\n")
    assert "pools[web].table_size changes from 65537 to 1021" in guideway(lab, "config", "diff")
    os.kill(lab.pid("lb1", "control"), signal.SIGHUP)
    process.wait_for("a refusal", lambda: not status_of(lab)["config"]["valid"])
    assert "table_size" in guideway(lab, "config", "reload", expect=1)
    assert view.digest_of(lab) == digest
    guideway(lab, "config", "reload", "--accept-moves")
    assert lab.json("lb1", ["guideway", "table", "show", "web"])["size"] == 1021


def test_rollback_sets_the_file_aside_until_it_changes(lab):
    first = version(lab)
    edit(lab, LINE_B3, LINE_B3.replace("weight: 1", "weight: 5"))
    guideway(lab, "config", "reload")
    assert weights(lab)["b3"] == 5
    second = version(lab)
    plan = lab.json("lb1", ["guideway", "table", "diff", str(first), str(second)])
    assert plan["services"][0]["moved_share"] > 0.3
    newest = lab.json("lb1", ["guideway", "table", "history"])[0]
    assert newest["cause"] == "config reload" and newest["who"] == "root" and newest["changed"] == ["web"]
    guideway(lab, "config", "rollback", str(first))
    assert weights(lab)["b3"] == 1
    assert lab.json("lb1", ["guideway", "config", "diff"])["changes"][0]["after"] == 5
    lab.stop("lb1", "control", signal.SIGKILL)
    lab.start("lb1", "control")
    assert weights(lab)["b3"] == 1
    lab.stop("lb1", "control", signal.SIGKILL)
    write(lab, read(lab).replace("weight: 5", "weight: 7"))
    lab.start("lb1", "control")
    assert weights(lab)["b3"] == 7
    start = lab.json("lb1", ["guideway", "table", "history"])[-1]
    assert start["config"] == start["version"] > second
    assert "no configuration" in guideway(lab, "config", "rollback", "99999999", expect=4)


def test_a_reload_goes_back_unless_it_is_confirmed(lab):
    edit(lab, LINE_B3, LINE_B3.replace("weight: 1", "weight: 5"))
    guideway(lab, "config", "reload", "--confirm-within", "3s")
    assert weights(lab)["b3"] == 5
    process.wait_for("the former weight", lambda: weights(lab)["b3"] == 1)
    assert "nobody confirmed" in lab.json("lb1", ["guideway", "table", "history"])[0]["cause"]

    guideway(lab, "config", "reload", "--confirm-within", "3s")
    guideway(lab, "config", "confirm")
    time.sleep(3.3)
    assert weights(lab)["b3"] == 5
    assert "no reload awaits" in guideway(lab, "config", "confirm", expect=1)


def test_a_confirmation_that_never_came_counts_at_the_next_start(lab):
    edit(lab, LINE_B3, LINE_B3.replace("weight: 1", "weight: 5"))
    guideway(lab, "config", "reload", "--confirm-within", "1s")
    lab.stop("lb1", "control", signal.SIGKILL)
    time.sleep(1)
    lab.start("lb1", "control")
    assert weights(lab)["b3"] == 1


def members(lab, *lines):
    return "".join(f"- {{name: {name}, address: 10.82.0.10{name[1]}}}\n" for name in lines)


def test_members_files_are_followed_and_never_empty_a_pool(lab):
    path = f"{lab.node_dir(lab.plan.node('lb1'))}/web.members"
    write(lab, members(lab, "b1", "b2", "b3"), path)
    text = read(lab)
    start, end = text.index("    backends:\n"), text.index("services:")
    write(lab, text[:start] + "    members_file: web.members\n" + text[end:])
    guideway(lab, "config", "reload")
    view.wait_all_up(lab)

    # what else is edited meanwhile waits
    write(lab, read(lab).replace("interval: 500ms", "interval: 501ms"))
    write(lab, members(lab, "b1", "b2"), path)
    process.wait_for("b3 to drain", lambda: listed(lab)["b3"]["state"] == "drain")
    assert "members file" in lab.json("lb1", ["guideway", "table", "history"])[0]["cause"]
    assert lab.json("lb1", ["guideway", "config", "diff"])["changes"][0]["path"].endswith("interval")

    digest = view.digest_of(lab)
    for bad in ("- {name: b1, adress: 10.82.0.101}\n", "", "[]\n"):
        write(lab, bad, path)
        process.wait_for("a complaint", lambda: not status_of(lab)["config"]["valid"])
        assert view.digest_of(lab) == digest
        write(lab, members(lab, "b1", "b2"), path)
        process.wait_for("a clean status", lambda: status_of(lab)["config"]["valid"])
    os.unlink(path)
    process.wait_for("a complaint", lambda: not status_of(lab)["config"]["valid"])
    assert view.digest_of(lab) == digest

    # control starts without the file as it would with it
    lab.stop("lb1", "control", signal.SIGKILL)
    lab.start("lb1", "control")
    assert view.digest_of(lab) == digest
    assert "web.members" in json.dumps(status_of(lab)["config"]["errors"])
    write(lab, members(lab, "b1"), path)
    process.wait_for("b2 to drain", lambda: listed(lab)["b2"]["state"] == "drain")


def test_rollback_takes_members_back_until_their_file_changes_again(lab):
    path = f"{lab.node_dir(lab.plan.node('lb1'))}/web.members"
    write(lab, members(lab, "b1", "b2", "b3"), path)
    text = read(lab)
    start, end = text.index("    backends:\n"), text.index("services:")
    write(lab, text[:start] + "    members_file: web.members\n" + text[end:])
    guideway(lab, "config", "reload")
    whole = version(lab)
    write(lab, members(lab, "b1", "b2"), path)
    process.wait_for("b3 to drain", lambda: listed(lab)["b3"]["state"] == "drain")
    guideway(lab, "config", "rollback", str(whole))
    assert listed(lab)["b3"]["slots"] > 0
    lab.stop("lb1", "control", signal.SIGKILL)
    lab.start("lb1", "control")
    time.sleep(0.5)
    assert listed(lab)["b3"]["slots"] > 0
    write(lab, members(lab, "b2", "b3"), path)
    process.wait_for("b1 to drain", lambda: listed(lab)["b1"]["state"] == "drain")


def test_an_override_ends_with_its_time(lab):
    guideway(lab, "backend", "drain", "b3", "--ttl", "4s", "--reason", "a disk")
    one = lab.json("lb1", ["guideway", "override", "list"])[0]
    assert (one["name"], one["who"], one["why"]) == ("b3", "root", "a disk") and one["ends"]
    process.wait_for("b3 to return", lambda: listed(lab)["b3"]["slots"] > 0)
    assert lab.json("lb1", ["guideway", "override", "list"]) == []
    assert "override is over" in lab.json("lb1", ["guideway", "table", "history"])[0]["cause"]


def test_a_plan_needs_no_daemon_and_warns(lab):
    write(lab, read(lab).replace("encap: ipip", "encap: ipip\n    table_size: 251"), f"{config_file(lab)}.other")
    plan = lab.json("lb1", ["guideway", "config", "plan", f"{config_file(lab)}.other", "--against", config_file(lab)])
    assert any("251 is less than 100 x 3" in line for line in plan["warnings"])
    assert any("table_size" in line for line in plan["moves"])
    assert any("announce is none" in line for line in plan["warnings"])
    share = plan["services"][0]["per_backend"][0]
    assert abs(share["share_before"] - 1 / 3) < 0.01 and share["slots_after"] in (83, 84)
