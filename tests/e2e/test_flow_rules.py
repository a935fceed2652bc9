# SPDX-License-Identifier: BSD-2-Clause
"""What a flow may count on (packets.md, "Choosing the backend"), with real clients, on both paths.

A tracked flow is told from an untracked one by taking its backend out of the table: who is still served by it is
remembered.
"""

import contextlib
import json
import os
import subprocess
import sys
import time

import pytest
from labkit import process, traffic, view

import paths

HERE = os.path.dirname(os.path.realpath(__file__))
V4, V6 = "203.0.113.10", "2001:db8:113::10"
TABLE = 1024  # flows.yaml's
KEPT = 50  # to each address


@pytest.fixture(scope="module", params=paths.BOTH)
def lab(request, make_module_lab):
    made = make_module_lab(config=f"{HERE}/flows.yaml", **request.param)
    view.wait_all_up(made)
    return made


def backend(lab, verb, name):
    status, _, error = lab.run("lb1", ["guideway", "backend", verb, f"web/{name}"])
    assert status == 0, error


@contextlib.contextmanager
def drained(lab, *names):
    """No slot of the table names these."""
    for name in names:
        backend(lab, "drain", name)
    try:
        process.wait_for(
            f"{names} to lose their slots", lambda: not set(names) & set(view.table_read(lab).slots)
        )
        yield
    finally:
        for name in names:
            backend(lab, "enable", name)
        process.wait_for(f"{names} to return", lambda: set(names) <= set(view.table_read(lab).slots))


@contextlib.contextmanager
def long_lived(lab, keep=KEPT):
    running = traffic.Traffic(lab, [V4, V6], rate=0, keep=keep, interval=0.5)

    def begun():
        kept = running.kept().values()
        return len(kept) == 2 * keep and all(len(one.answers) >= 2 for one in kept)

    try:
        process.wait_for("long-lived connections", begun)
        yield running
    finally:
        running.stop()


def answered_since(running, moment):
    return all(one.error or one.answers[-1] > moment for one in running.kept().values())


@pytest.mark.parametrize("kinds", ["syn", "ack", "udp", "syn,ack,udp"])
def test_a_flood_of_ten_tables_moves_no_established_flow(lab, kinds):
    before = lab.json("lb1", ["guideway", "drops", "--json"])["rx"]
    each = 10 * TABLE // len(kinds.split(","))
    with long_lived(lab) as running, drained(lab, "b1", "b2"):
        homes = {number: one.backend for number, one in running.kept().items()}
        assert set(homes.values()) == {"b1", "b2", "b3"}
        status, _, error = lab.run("client", ["/usr/bin/python3", f"{HERE}/flood.py", kinds, str(each), V4])
        assert status == 0, error
        received = lab.json("lb1", ["guideway", "drops", "--json"])["rx"] - before
        assert received > 9 * TABLE, "the flood did not arrive"
        moment = time.monotonic()
        process.wait_for("an answer after the flood", lambda: answered_since(running, moment))
        assert {number: one.backends for number, one in running.kept().items()} == {
            number: [home] for number, home in homes.items()
        }
        assert [one.error for one in running.kept().values() if one.error] == []


def test_the_last_backend_drains_without_cutting_its_flows(lab):
    with long_lived(lab, keep=5) as running:
        for name in ("b1", "b2", "b3"):
            backend(lab, "drain", name)
        try:
            process.wait_for("a table without slots", lambda: not set(view.table_read(lab).slots) - {None})
            moment = time.monotonic()
            process.wait_for("answers by drained backends", lambda: answered_since(running, moment))
            assert [one.error for one in running.kept().values() if one.error] == []
            refused = lab.run("client", ["curl", "-s", "--max-time", "1", f"http://{V4}/"])
            assert refused[0] == 28
        finally:
            for name in ("b1", "b2", "b3"):
                backend(lab, "enable", name)
            view.wait_all_up(lab)
        assert lab.run("client", ["curl", "-s", "--max-time", "5", f"http://{V4}/"])[0] == 0


def program_start(lab, node, *arguments):
    """A program in Python."""
    command, environment = lab.command(node, ["/usr/bin/python3", *arguments])
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)


CONNECT = """
import socket, sys, time
sock = socket.socket()
sock.bind(("10.81.0.2", int(sys.argv[2])))
sock.settimeout(20)
sock.connect((sys.argv[1], 80))
sock.sendall(b"GET / HTTP/1.0\\r\\n\\r\\n")
print(sock.makefile().read().split()[-1])
"""


def syn_seen(lab, port):
    """The backend of the flow, once the balancer has one."""
    status, out, _ = lab.run(
        "lb1", ["guideway", "flow", "show", "--json", f"tcp 10.81.0.2:{port} {V4}:80"]
    )
    return json.loads(out).get("backend") if status == 0 else None


def test_a_syn_that_is_sent_again_keeps_its_backend(lab):
    port = 41007
    table = view.table_read(lab)
    status, out, _ = lab.run(
        "lb1", ["guideway", "lookup", "--json", f"tcp 10.81.0.2:{port} {V4}:80"]
    )
    assert status == 0
    first = json.loads(out)["backend"]
    others = sorted({"b1", "b2", "b3"} - {first})
    # the answers are lost: the client sends its SYN again after one second and after three
    assert lab.run(first, ["ip", "route", "add", "blackhole", "10.81.0.2/32"])[0] == 0
    try:
        client = program_start(lab, "client", "-c", CONNECT, V4, str(port))
        process.wait_for("the first SYN", lambda: syn_seen(lab, port) is not None)
        assert syn_seen(lab, port) == first
        backend_weights(lab, {first: 1, **dict.fromkeys(others, 100)})
        process.wait_for("another table", lambda: view.table_read(lab).digest != table.digest)
        sent_to = {name: view.decapsulated(lab, name) for name in others}
        time.sleep(1.2)  # a SYN falls into this time
    finally:
        assert lab.run(first, ["ip", "route", "del", "blackhole", "10.81.0.2/32"])[0] == 0
    try:
        assert client.communicate(timeout=30)[0].strip() == first
        assert sent_to == {name: view.decapsulated(lab, name) for name in others}
    finally:
        backend_weights(lab, dict.fromkeys(("b1", "b2", "b3"), 1))
        process.wait_for("the old table", lambda: view.table_read(lab).digest == table.digest)


def backend_weights(lab, weights):
    for name, weight in weights.items():
        status, _, error = lab.run("lb1", ["guideway", "backend", "weight", f"web/{name}", str(weight)])
        assert status == 0, error


@pytest.fixture
def half_close_servers(lab):
    servers = [
        program_start(lab, name, f"{HERE}/half_close.py", "serve") for name in ("b1", "b2", "b3")
    ]
    assert [server.stdout.readline() for server in servers] == ["ready\n"] * 3
    yield
    for server in servers:
        server.kill()
        server.wait()


@pytest.mark.usefixtures("half_close_servers")
def test_a_half_closed_download_ends_well(lab):
    """Eleven seconds of download after the client's FIN, over three times tcp_closing, over a table without its backend."""
    clients = [program_start(lab, "client", f"{HERE}/half_close.py", "fetch", V4) for _ in range(9)]
    assert [client.stdout.readline() for client in clients] == ["half closed\n"] * 9
    # In a table still full of a flood they may have taken each other's words, closing ones being the first to go: the
    # next packet of each, within a fifth of a second, brings it back. Only then may the table change.
    time.sleep(1)
    with drained(lab, "b1", "b2"):
        sizes = [int(client.communicate(timeout=60)[0]) for client in clients]
    assert sizes == [55 * 4000] * 9
