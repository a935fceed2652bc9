# SPDX-License-Identifier: BSD-2-Clause
"""Backends that come back: held when they flap, with rising weight, in their turn; told to a hook, and explained."""

import signal
import stat

import pytest
from labkit import process

CONFIG = """\
version: 1
node: {{name: lab}}
dataplane: {{path: xdp, interfaces: [{{name: eth1, mode: auto}}], cpus: "1", flows: 65536}}
defaults:
  healthcheck: {{type: http, port: 80, path: /healthz, interval: 400ms, timeout: 390ms, rise: 1, fall: 2}}
hooks: {{transition: {hook}, timeout: 20s}}
pools:
  - name: web
    damping: {{after: 2, window: 5m, hold: 4s, hold_max: 8s}}
    slow_start: {{duration: 3s, from: 25%, steps: 3}}
    backends:
      - {{name: b1, address: 10.82.0.101}}
      - {{name: b2, address: 10.82.0.102}}
  - name: turns
    damping: "off"
    enter_limit: {{count: 1, per: 6s}}
    backends:
      - {{name: b1, address: 10.82.0.101, key: k1}}
      - {{name: b2, address: 10.82.0.102, key: k2}}
services:
  - {{name: web, addresses: [203.0.113.10], protocol: tcp, ports: [80], pool: web}}
  - {{name: turns, addresses: [203.0.113.20], protocol: tcp, ports: [80], pool: turns}}
api: {{unix: /run/guideway/control.sock}}
"""


@pytest.fixture(scope="module")
def lab(make_module_lab, tmp_path_factory):
    folder = tmp_path_factory.mktemp("comeback")
    hook, config = folder / "hook", folder / "config.yaml"
    hook.write_text(
        f'#!/bin/sh\necho "$GUIDEWAY_KIND $GUIDEWAY_SUBJECT $GUIDEWAY_FROM-$GUIDEWAY_TO" >> {folder}/told\n'
    )
    hook.chmod(hook.stat().st_mode | stat.S_IXUSR)
    config.write_text(CONFIG.format(hook=hook))
    made = make_module_lab(path="xdp", config=str(config), backends=2)
    made.told = folder / "told"
    process.wait_for("both backends to be up", lambda: shown(made, "web/b1", "health") == "up" and members(made, "turns") == 2)
    return made


def backend(lab, name):
    return lab.json("lb1", ["guideway", "backend", "explain", name])


def shown(lab, name, key):
    return backend(lab, name)[key]


def members(lab, pool):
    listed = lab.json("lb1", ["guideway", "backend", "list", pool])
    return sum(one["slots"] > 0 for one in listed)


def flip(lab, *names):
    for name in names:
        lab.stop(name, "nginx", signal.SIGKILL)
    for name in names:
        process.wait_for(f"{name} to be down", lambda name=name: shown(lab, f"web/{name}", "health") == "down", interval=0.05)
    for name in names:
        lab.start(name, "nginx")
    for name in names:
        process.wait_for(f"{name} to answer", lambda name=name: shown(lab, f"web/{name}", "health") == "up", interval=0.05)


def test_weight_rises_in_steps_after_a_return(lab):
    flip(lab, "b2")
    seen = set()

    def whole():
        one = backend(lab, "web/b2")
        seen.add(one["effective_weight"])
        return one["effective_weight"] == 1

    process.wait_for("the full weight", whole, interval=0.1)
    assert seen <= {0.25, 0.5, 0.75, 1} and len(seen) >= 3, seen


def test_no_more_than_the_limit_enter_at_a_time(lab):
    flip(lab, "b1", "b2")
    # Both are healthy again; in the pool with the limit one waits for its turn. The first may have to, too: for the
    # test before.
    process.wait_for("the first", lambda: members(lab, "turns") == 1)
    waiting = [one for one in (backend(lab, f"turns/b{i}") for i in (1, 2)) if "turn" in one["reason"]]
    assert members(lab, "turns") == 1 and len(waiting) == 1
    process.wait_for("the other's turn", lambda: members(lab, "turns") == 2, interval=0.1)


def test_a_backend_that_flaps_is_held_down_and_shown_so(lab):
    # Its third time in this module at the latest.
    for _ in range(3):
        flip(lab, "b2")
        if backend(lab, "web/b2")["held_until"]:
            break
    held = backend(lab, "web/b2")
    assert (held["state"], held["health"], held["slots"]) == ("down", "up", 0)
    assert held["held_until"] and held["flips"] >= 3 and "too often" in held["reason"]
    process.wait_for("its hold to end", lambda: backend(lab, "web/b2")["slots"] > 0, interval=0.1)
    assert backend(lab, "web/b2")["held_until"] is None


def test_the_hook_was_told_each_transition_once_and_in_order(lab):
    process.wait_for("the hook", lambda: "damping web/b2 held-active" in lab.told.read_text())
    health = [line for line in lab.told.read_text().splitlines() if line.startswith("health web/b2 ")]
    assert health[0] in ("health web/b2 unknown-up", "health web/b2 up-down")
    turns = [line.split()[2] for line in health if "unknown" not in line]
    assert turns == ["up-down", "down-up"] * (len(turns) // 2)


def test_explain_tells_answers_and_what_comes_next(lab):
    lab.stop("b1", "nginx", signal.SIGKILL)
    try:
        process.wait_for("b1 to be down", lambda: shown(lab, "web/b1", "health") == "down", interval=0.05)
        probe = backend(lab, "web/b1")["probes"][0]
        assert (probe["type"], probe["address"], probe["health"]) == ("http", "10.82.0.101", "down")
        assert probe["shared_by"] == 2  # with the other pool's
        assert "refused" in probe["answers"][0]["text"]
        assert probe["next"] == "0 of 1 successes; the next success brings it up"
        status, out, _ = lab.run("lb1", ["guideway", "backend", "explain", "web/b1"])
        assert status == 0 and "the next success brings it up" in out
    finally:
        lab.start("b1", "nginx")
