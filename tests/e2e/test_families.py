# SPDX-License-Identifier: BSD-2-Clause
"""Every family inside every family, TCP and UDP, and packets counted one by one."""

import json
import os
import signal
import subprocess
import time

import pytest
from labkit import process, view

import paths

HERE = os.path.dirname(os.path.realpath(__file__))
ECHO = ["203.0.113.40", "2001:db8:113::40"]
COMBINATIONS = [
    ("203.0.113.40", "decap_4in4"),
    ("2001:db8:113::40", "decap_6in4"),
    ("203.0.113.60", "decap_4in6"),
    ("2001:db8:113::60", "decap_6in6"),
]


@pytest.fixture(scope="module", params=paths.EVERY)
def lab(request, make_module_lab):
    made = make_module_lab(config=f"{HERE}/wide.yaml", **request.param)
    for node in made.plan.bs:
        argv, env = made.command(node.name, ["/usr/bin/python3", f"{HERE}/udp_echo.py", "serve", node.name])
        process.spawn(argv, f"{made.node_dir(node)}/echo.log", env)
    view.wait_members(made, 6)
    return made


def send_start(lab, address, seconds, flows=60, rate=400):
    """Until the time is over and communicate() has been called. That one of three backends has none of sixty flows
    happens once in 10^10 runs."""
    command = ["/usr/bin/python3", f"{HERE}/udp_echo.py", "send", address]
    argv, env = lab.command("client", [*command, str(seconds), str(flows), str(rate)])
    return subprocess.Popen(argv, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def taken(lab, counter):
    return sum(
        lab.json(node.name, ["guideway-decap", "stats", "eth1"])[0]["packets"][counter] for node in lab.plan.bs
    )


@pytest.mark.parametrize("address,counter", COMBINATIONS)
def test_http_through_every_combination_of_families(lab, address, counter):
    before = taken(lab, counter)
    url = f"http://[{address}]/" if ":" in address else f"http://{address}/"
    for _ in range(5):
        status, out, err = lab.run("client", ["curl", "-sS", "--fail", "--max-time", "20", url])
        assert status == 0, err
        assert out.strip() in ("b1", "b2", "b3")
    # SYN, ACK, request, ACK of the answer, FIN at the least
    process.wait_for(f"{counter} to count them", lambda: taken(lab, counter) >= before + 5 * 4)


@pytest.mark.parametrize("address", ECHO)
def test_every_datagram_is_answered_and_a_flow_stays_with_its_backend(lab, address):
    told = json.loads(send_start(lab, address, 2).communicate()[0])
    assert told["sent"] > 500 and told["lost"] == []
    assert all(len(names) == 1 for names in told["by"].values())
    assert len({names[0] for names in told["by"].values()}) > 1


def test_not_one_datagram_is_lost_when_control_is_killed_and_returns(lab):
    sender = send_start(lab, ECHO[0], 6)
    time.sleep(1)
    lab.stop("lb1", "control", signal.SIGKILL)
    time.sleep(2)
    lab.start("lb1", "control")
    told = json.loads(sender.communicate()[0])
    assert told["sent"] > 1500 and told["lost"] == []
    assert all(len(names) == 1 for names in told["by"].values())
    view.wait_members(lab, 6)


def test_a_client_that_never_pauses_leaves_a_dead_backend(lab):
    sender = send_start(lab, ECHO[1], 7)
    time.sleep(1)
    lab.stop("b3", "nginx", signal.SIGKILL)  # its health check; the echo server goes on, unasked

    def down():
        listed = lab.json("lb1", ["guideway", "backend", "list"])
        return all(one["health"] == "down" for one in listed if one["name"] == "b3") and view.in_force(lab)

    process.wait_for("b3 to be down", down, interval=0.05)
    time.sleep(0.5)
    quiet = view.decapsulated(lab, "b3")
    time.sleep(1)
    assert view.decapsulated(lab, "b3") == quiet
    time.sleep(1)
    told = json.loads(sender.communicate()[0])
    lab.start("b3", "nginx")
    assert told["lost"] == []
    moved = [names for names in told["by"].values() if names[0] == "b3"]
    assert moved and all(len(names) == 2 for names in moved)
    assert all(len(names) == 1 for names in told["by"].values() if names[0] != "b3")
    view.wait_members(lab, 6)


    
