# SPDX-License-Identifier: BSD-2-Clause
"""tools/lab ends as every command does: 2 for wrong use, 4 for no such lab or node; and when a process is gone."""

import subprocess

import pytest
from labkit import lab, plan, process


@pytest.mark.parametrize(
    "prefix, balancers, backends", [("a/b", 1, 1), ("gwx", 0, 1), ("gwx", 1, 0), ("gwx", 1, 151)]
)
def test_an_argument_that_no_lab_can_have_is_wrong_use(prefix, balancers, backends):
    with pytest.raises(plan.LabError) as raised:
        plan.Plan(prefix, balancers, backends)
    assert raised.value.status == 2


def test_a_lab_that_is_not_up_is_no_such_thing():
    with pytest.raises(plan.LabError) as raised:
        lab.Lab.load("gwneverup")
    assert raised.value.status == 4


def test_a_node_that_is_not_there_is_no_such_thing():
    with pytest.raises(plan.LabError) as raised:
        plan.Plan("gwx", 1, 1).node("b2")
    assert raised.value.status == 4


LEADER_LEAVES = """
import ctypes, platform, threading, time
threading.Thread(target=time.sleep, args=(1,)).start()
print(flush=True)
ctypes.CDLL(None).syscall({"x86_64": 60, "aarch64": 93}[platform.machine()], 0)  # exit, of this thread alone
"""


def test_a_process_whose_first_thread_has_ended_is_alive_until_the_others_have():
    with subprocess.Popen(["/usr/bin/python3", "-c", LEADER_LEAVES], stdout=subprocess.PIPE) as child:
        child.stdout.readline()
        leader = f"/proc/{child.pid}/stat"
        process.wait_for("the first thread's end", lambda: ") Z " in open(leader, encoding="ascii").read(), 5)
        assert process.alive(child.pid)
        process.wait_for("the end", lambda: not process.alive(child.pid), 10)
