#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""guideway-bench's link and nic for real, on memif between processes of its own: that they measure, what they say, and
that nothing stays. No speed is asserted."""

import contextlib
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import time

import pytest

from test_bench_tool import PROGRAM, need, run

RUNTIME = pathlib.Path("/var/run/dpdk")
BRIEF = ("--path", "dpdk", "--flows", "1k", "--backends", 10, "--rounds", 1, "--no-huge", "--json")


def ports(name):
    """A pair of ports that are each other's other end."""
    socket_name = f"gw-test-{os.getpid()}-{name}"
    return [f"net_memif0,role={role},socket={socket_name},rsize=12" for role in ("client", "server")]


def children(pid):
    return [int(word) for word in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()]


def wait_for(condition, what, seconds=120):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"after {seconds} s still not: {what}"
        time.sleep(0.05)


def left_over():
    """Folders of processes that are no more; others may be measuring just now."""
    folders = RUNTIME.glob("gw-bench-*-*") if RUNTIME.is_dir() else []
    return sorted(path.name for path in folders if not pathlib.Path("/proc", path.name.split("-")[-1]).exists())


@pytest.fixture(autouse=True)
def nothing_stays():
    need("dpdk", "link")
    before = left_over()
    yield
    assert left_over() == before


@pytest.fixture
def served():
    """The balancer's side of a nic between two hosts; its generator's port, and where it listens."""
    gen, dut = ports("served")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    words = ["--mode", "nic", "--dut", dut, "--listen", address, "--no-huge"]
    with subprocess.Popen([PROGRAM, *words], stdout=subprocess.DEVNULL) as process:
        wait_for(lambda: can_connect(address), f"listening at {address}")
        yield gen, address
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=120) == 0


def connected(pid):
    """Over link mode's memif: the socket that listens, and one for the connection."""
    return pathlib.Path("/proc/net/unix").read_text(encoding="ascii").count(f"@guideway-bench-{pid}\n") >= 2


def can_connect(address):
    host, port = address.split(":")
    try:
        socket.create_connection((host, int(port)), timeout=1).close()
        return True
    except OSError:
        return False


def check_search(one):
    assert one["valid"] and one["lost"] == 0 and one["sampled"] > 0, one.get("why")
    assert one["synthetic"], "memif is no network card"
    assert one["details"]["driver"] == "net_memif"
    assert 0 < one["mpps"] and 0 < one["bound_mpps"]


def test_load_gives_latencies_that_rise_with_the_percentile():
    shown = json.loads(run("--mode", "link", "--load", "0.5", "--seconds", 0.3, *BRIEF).stdout)
    [one] = shown["runs"]
    assert one["valid"], one.get("why")
    p50, p99, p999 = (one["latency"][name]["median"] for name in ("p50_ns", "p99_ns", "p99_9_ns"))
    assert 0 < p50 <= p99 <= p999


def stop_and_go(process, stopped, between):
    """Until it ends: its balancer stands still for `stopped` seconds each time."""
    while process.poll() is None:
        with contextlib.suppress(OSError):  # they end when they like
            for pid in children(process.pid):
                if b"@subject" in pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0"):
                    os.kill(pid, signal.SIGSTOP)
                    time.sleep(stopped)
                    os.kill(pid, signal.SIGCONT)
        time.sleep(between)


def test_a_balancer_that_stands_still_is_late_for_all_that_was_due_meanwhile():
    words = [str(word) for word in (PROGRAM, "--mode", "link", "--load", "0.1", "--seconds", 2, *BRIEF)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        stop_and_go(process, stopped=0.2, between=0.4)
        [one] = json.loads(process.stdout.read())["runs"]
    assert one["valid"], one.get("why")
    latency = one["latency"]
    # A third of the time it stood still, a tenth of which is more than a ring has room for.
    assert latency["late"] > 0.05 * one["packets"], latency
    assert latency["max_ns"] > 190e6 and latency["p99_ns"]["median"] > 100e6, latency


def test_pauses_give_the_latency_of_single_packets_awake_and_asleep():
    words = ("--mode", "link", "--idle", "10k", "--poll", "busy,adaptive", "--seconds", 0.3)
    shown = json.loads(run(*words, *BRIEF).stdout)
    assert [one["poll"] for one in shown["runs"]] == ["busy", "adaptive"]
    for one in shown["runs"]:
        assert one["valid"], one.get("why")
        assert one["packets"] <= 31, "a packet each 10 ms, and one"
        assert one["latency"]["p50_ns"]["median"] > 0


def test_swaps_and_new_flows_lose_nothing_over_a_link():
    words = ("--mode", "link", "--swaps", 20, "--new", "10%", "--size", "imix", "--encap", "gue", "--family", 6)
    shown = json.loads(run(*words, "--seconds", 0.5, *BRIEF).stdout)
    [one] = shown["runs"]
    assert one["valid"] and one["lost"] == 0 and one["swaps"] > 0, one.get("why")


def test_nic_searches_the_highest_rate_without_loss_between_two_ports():
    gen, dut = ports("nic")
    words = ("--mode", "nic", "--gen", gen, "--dut", dut, "--seconds", 0.1, "--repeats", 1)
    [one] = json.loads(run(*words, *BRIEF).stdout)["runs"]
    check_search(one)
    assert one["details"]["resolution"] == 0.01


def test_frames_of_others_without_end_do_not_keep_it_waiting_for_lost_ones():
    # A null port takes what is sent, and always has frames to give: those of others.
    words = ("--mode", "nic", "--gen", "net_null0", "--dut", "net_null1", "--seconds", 0.1)
    [one] = json.loads(run(*words, *BRIEF, status=1).stdout)["runs"]
    assert "nothing came back from the balancer" in one["why"]
    assert "others' frames arrived" in one["why"]


def test_nic_measures_a_balancer_that_another_host_runs(served):
    gen, address = served
    words = ("--mode", "nic", "--gen", gen, "--dut", f"tcp:{address}", "--seconds", 0.1, "--repeats", 1)
    for _ in range(2):  # it serves one after another
        [one] = json.loads(run(*words, *BRIEF).stdout)["runs"]
        check_search(one)


def test_another_host_that_is_no_guideway_bench_is_told_so():
    gen, _ = ports("stranger")
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
        words = [PROGRAM, "--mode", "nic", "--gen", gen, "--dut", f"tcp:{address}", *map(str, BRIEF)]
        with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            server.settimeout(120)
            connection, _ = server.accept()
            with connection:
                connection.sendall(b"SSH-2.0-OpenSSH_9.2p1 Debian-2+deb12u3\r\n" * 4)
                told = process.communicate(timeout=120)[1]
    assert process.returncode == 1
    assert "not the same guideway-bench" in told


class Far:
    """A real balancer on a host of its own, a namespace, joined to our port by a veth pair."""

    MAC = "02:00:00:00:07:07"

    def __init__(self, folder):
        self.name = f"gwbench{os.getpid()}"
        self.port = f"gwb{os.getpid()}"
        self.folder = folder
        self.control = None

    def do(self, *commands):
        for command in commands:
            subprocess.run(command.format(ns=self.name, port=self.port, mac=self.MAC), shell=True, check=True, stdout=subprocess.DEVNULL)

    def start(self, *case):
        self.do("ip netns add {ns}", "ip link add {port} type veth peer name eth1 netns {ns}", "sysctl -qw net.ipv6.conf.{port}.disable_ipv6=1")
        self.do("ip link set {port} up", "ip -n {ns} link set lo up", "ip -n {ns} link set eth1 up address {mac}")
        self.do("ip netns exec {ns} ethtool -K eth1 rxvlan off")
        printed = run("--mode", "nic", *case, "--print-config").stdout
        for line in re.findall(r"^#\t(ip .*)$", printed, re.MULTILINE):  # as its comments say
            self.do(line.replace("ip ", "ip -n {ns} ", 1).replace("PORT", "eth1"))
        ours = f"dataplane: {{path: xdp, interfaces: [{{name: eth1, mode: generic}}], flows: 65536}}\nstate_dir: {self.folder}/state\n"
        config = self.folder / "far.yaml"
        config.write_text(re.sub(r"^dataplane:.*\n", ours + f"api: {{unix: {self.folder}/api.sock}}\n", printed, flags=re.MULTILINE))
        control = PROGRAM.parents[2] / "control" / "guideway-control"
        with (self.folder / "log").open("w") as log:
            self.control = subprocess.Popen(["ip", "netns", "exec", self.name, control, "--config", config], stderr=log)
        wait_for(lambda: "API at" in (self.folder / "log").read_text(), "the balancer is there")

    def end(self):
        if self.control:
            self.control.terminate()
            self.control.wait(timeout=120)
        subprocess.run(f"ip netns del {self.name}; ip link del {self.port}", shell=True, check=False, stderr=subprocess.DEVNULL)


@pytest.fixture
def far(tmp_path):
    if os.geteuid():
        pytest.skip("namespaces need root")
    need("xdp", "link")
    one = Far(tmp_path)
    yield one
    one.end()


def test_balancer_of_another_host_that_cannot_be_asked_is_searched_by_what_comes_back(far):
    case = ("--services", 2, "--backends", 10)
    far.start(*case)
    words = ("--mode", "nic", "--gen", f"net_af_packet0,iface={far.port}", "--path", "dpdk", "--flows", 100, *case, "--rounds", 1, "--no-huge", "--json")
    # A rate that a veth pair takes without loss, on a busy machine too.
    [one] = json.loads(run(*words, "--dut", far.MAC, "--rate", 500, "--seconds", 0.3).stdout)["runs"]
    assert one["valid"] and one["lost"] == 0 and one["sampled"] > 0 and one["packets"] > 100, one.get("why")
    assert one["path"] == "other" and one["bound_mpps"] is None and one["over_bound_ns"] is None and one["cycles_per_packet"] is None
    assert any("could not be asked" in warning for warning in one["warnings"])
    assert one["details"]["dut"] == {"mac": far.MAC}
    # Nobody there.
    [one] = json.loads(run(*words, "--dut", "02:00:00:00:07:08", "--seconds", 0.1, status=1).stdout)["runs"]
    assert "nothing came back" in one["why"] and "--print-config" in one["why"]
    # With a rate it is a source, and says what it sent.
    [one] = json.loads(run(*words, "--dut", "02:00:00:00:07:08", "--rate", 500, "--seconds", 0.3, status=1).stdout)["runs"]
    assert not one["valid"] and one["offered"] > 100 and one["packets"] == 0 and one["mpps"] is None
    assert "nothing came back" in one["why"]


@pytest.mark.parametrize("mode", ["nic", "cpu,nic"])
def test_port_that_is_not_there_is_named_once_and_before_anything_is_measured(mode):
    ends = ("--gen", "net_memif0,role=client,socket=gw-nobody", "--dut", "net_nothing9")
    done = run("--path", "dpdk", "--mode", mode, *ends, "--seconds", 0.1, "--rounds", 2, "--no-huge", "--flows", "1,2,3", status=1)
    assert done.stderr.count("does not start with port net_nothing9") == 1, done.stderr
    assert done.stderr.count("failed to parse device") == 1, done.stderr
    assert done.stdout == ""


def test_it_tidies_up_when_nobody_reads_on():
    words = ["--path", "dpdk", "--mode", "link", "--flows", "1k,2k,3k", "--seconds", "0.1", "--rounds", "1", "--no-huge"]
    with subprocess.Popen([PROGRAM, *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        process.stdout.readline()
        process.stdout.close()
        assert process.wait(timeout=60) == 1, "an end of its own, not by the signal"


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGKILL])
def test_children_end_with_the_program(ending):
    words = ["--path", "dpdk", "--mode", "link", "--flows", "1k", "--seconds", "60", "--no-huge"]
    with subprocess.Popen([PROGRAM, *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        # Killed before, in the middle of EAL's start, one would leave its runtime folder.
        wait_for(lambda: connected(process.pid), "the generator's port and the balancer's are connected")
        started = children(process.pid)
        process.send_signal(ending)
        assert process.wait(timeout=120) != 0
    wait_for(lambda: not any(pathlib.Path(f"/proc/{pid}").exists() for pid in started), "both children are gone")
