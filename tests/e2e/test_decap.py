# SPDX-License-Identifier: BSD-2-Clause
"""The decapsulator in a backend that lives: packets sent as a balancer would, answered by the stack."""

import os
import subprocess

import pytest

HERE = os.path.dirname(os.path.realpath(__file__))
FAMILIES = [(4, 4), (4, 6), (6, 4), (6, 6)]
VIP = {4: "203.0.113.10", 6: "2001:db8:113::10"}


@pytest.fixture(scope="module", params=["tcx", "tc", "xdp", "xdp-generic"])
def lab(request, make_module_lab):
    made = make_module_lab(backends=1, start=False, decap_hook=request.param)
    made.hook = "xdp" if request.param == "xdp-generic" else request.param
    return made


def stats(lab):
    return lab.json("b1", ["guideway-decap", "stats", "eth1"])[0]


def mac_of(lab, node):
    return lab.run(node, ["cat", "/sys/class/net/eth1/address"])[1].strip()


def tunnel_send(lab, outer, inner, source=None, payload="guideway"):
    balancer, backend, client = (lab.plan.node(name) for name in ("lb1", "b1", "client"))
    address = {4: "ipv4", 6: "ipv6"}
    status, out, err = lab.run(
        "lb1",
        [
            *("/usr/bin/python3", f"{HERE}/tunnel.py"),
            source or getattr(balancer, address[outer]),
            getattr(backend, address[outer]),
            getattr(client, address[inner]),
            VIP[inner],
            mac_of(lab, "b1"),
            payload,
        ],
    )
    assert status == 0, out + err


class EchoWatch:
    """Counts echo replies from the service that reach the client."""

    def __init__(self, lab, inner):
        kind = "icmp6 and ip6[40] == 129" if inner == 6 else "icmp[icmptype] == icmp-echoreply"
        argv, env = lab.command(
            "client", ["tcpdump", "-i", "eth0", "-l", "-n", "-c", "1", f"{kind} and src host {VIP[inner]}"]
        )
        self.child = subprocess.Popen(
            argv, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        for line in self.child.stderr:  # says when it listens
            if "listening on" in line:
                break

    def seen(self, seconds):
        try:
            return "reply" in self.child.communicate(timeout=seconds)[0]
        except subprocess.TimeoutExpired:
            self.child.kill()
            self.child.communicate()
            return False


@pytest.mark.parametrize("outer,inner", FAMILIES)
def test_inner_packet_reaches_the_stack_and_is_answered(lab, outer, inner):
    name = f"decap_{inner}in{outer}"
    before = stats(lab)["packets"][name]
    watch = EchoWatch(lab, inner)
    tunnel_send(lab, outer, inner)
    assert watch.seen(30)
    assert stats(lab)["packets"][name] == before + 1


@pytest.mark.parametrize("outer,source", [(4, "10.82.0.12"), (6, "fd82::12")])
def test_a_stranger_is_dropped_and_counted(lab, outer, source):
    before = stats(lab)["drops"]["not_allowed"]
    watch = EchoWatch(lab, 4)
    tunnel_send(lab, outer, 4, source=source)
    assert not watch.seen(0.5)
    assert stats(lab)["drops"]["not_allowed"] == before + 1


def test_the_hook_and_prefixes_are_shown(lab):
    shown = stats(lab)
    assert shown["hook"] == lab.hook
    assert sorted(shown["from"]) == ["10.82.0.11", "fd82::11"]


def test_a_second_attach_changes_prefixes_and_keeps_counters(lab):
    tunnel_send(lab, 4, 4)
    counted = stats(lab)["packets"]["decap_4in4"]
    assert counted > 0
    hook = "xdp-generic" if lab.options.decap_hook == "xdp-generic" else lab.options.decap_hook
    for source in ("10.82.0.0/24", "10.82.0.11"):
        command = ["guideway-decap", "attach", "eth1", "--from", source, "--from", "fd82::11"]
        assert lab.run("b1", [*command, "--hook", hook])[0] == 0
        assert sorted(stats(lab)["from"]) == [source, "fd82::11"]
        assert stats(lab)["packets"]["decap_4in4"] == counted


def test_detach_leaves_nothing_and_says_when_there_is_nothing(make_lab):
    lab = make_lab(backends=1, start=False)
    assert lab.run("b1", ["guideway-decap", "detach", "eth1"])[0] == 0
    assert not os.path.exists(f"{lab.bpf_dir(lab.plan.node('b1'))}/guideway-decap/eth1")
    status, _, err = lab.run("b1", ["guideway-decap", "detach", "eth1"])
    assert status == 4 and "no decapsulator is attached" in err
    watch = EchoWatch(lab, 4)
    tunnel_send(lab, 4, 4)
    assert not watch.seen(0.5)


def test_another_program_at_the_xdp_hook_is_named(make_lab):
    lab = make_lab(backends=1, start=False)
    foreign = f"{lab.options.build}/bpf/pass.bpf.o"
    command = ["ip", "link", "set", "dev", "eth1", "xdpdrv", "obj", foreign, "sec", "xdp.frags"]
    assert lab.run("b1", command)[0] == 0
    attach = ["guideway-decap", "attach", "eth1", "--from", "10.82.0.11"]
    status, _, err = lab.run("b1", [*attach, "--hook", "xdp"])
    assert status == 1 and "gw_pass" in err
    assert lab.run("b1", [*attach, "--hook", "tcx"])[0] == 0
