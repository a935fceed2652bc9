# SPDX-License-Identifier: BSD-2-Clause
"""guideway-replay as a command: what it refuses and how it ends."""

import subprocess

import pytest
from golden import flow_hash
from replay import ROOT, program, write_capture
from scapy.layers.inet import IP, TCP
from scapy.layers.l2 import Ether

CONFIG = ROOT / "tests/golden/config.yaml"
FRAME = bytes(Ether() / IP(src="198.51.100.7", dst="203.0.113.10") / TCP(sport=40000, dport=80))


@pytest.fixture
def capture(tmp_path):
    write_capture(tmp_path / "in.pcap", [FRAME])
    return tmp_path / "in.pcap"


def run(capture, *more, **how):
    command = [program(), "--path", "xdp", "--config", CONFIG, "--in", capture, "--json", *more]
    return subprocess.run(command, stderr=subprocess.PIPE, text=True, timeout=600, check=False, **how)


@pytest.mark.parametrize("option", ["--out", "--host"])
def test_the_capture_that_is_read_is_not_overwritten(capture, option):
    before = capture.read_bytes()
    done = run(capture, option, capture)
    assert done.returncode == 1
    assert str(capture) in done.stderr
    assert capture.read_bytes() == before


def test_lines_that_cannot_be_written_are_a_failure(capture):
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = run(capture, stdout=full)
    assert done.returncode == 1
    assert "standard output: No space left on device" in done.stderr


def test_frames_that_cannot_be_written_are_a_failure(capture):
    done = run(capture, "--out", "/dev/full", stdout=subprocess.DEVNULL)
    assert done.returncode == 1
    assert "/dev/full" in done.stderr


@pytest.mark.parametrize("path", ["dpdk", "xdp"])
def test_the_tracer_tells_each_stage(capture, path):
    """With the state of the flow before and after, in both paths."""
    command = [program(), "--path", path, "--config", CONFIG, "--in", capture, "-v"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=True)
    told = dict(line.strip().split(None, 1) for line in done.stdout.splitlines()[1:])
    assert told["vip"] == "203.0.113.10/32"
    assert "ports 40000 -> 80 SYN" in told["headers"]
    assert told["service"] == "web4, by ports 80-80"
    assert told["before:"] == "nothing; after: NEW on b4"
    assert "of 65537 in pool four, digest " in told["table"]
    assert told["backend"] == "four/b4, active"
    assert told["size"] == "40 + 20 bytes, the link takes 1500"
    assert told["verdict"] == "tx"


@pytest.mark.parametrize(
    "words, told",
    [
        (["--ways", "17"], "--ways is a number from 1 to 16, not 17"),
        (["--ways", "0"], "--ways is a number from 1 to 16, not 0"),
        (["--path", "dpdk", "--untraced"], "--untraced is for --path xdp"),
    ],
)
def test_wrong_use_is_named(capture, words, told):
    done = run(capture, *words)
    assert done.returncode == 2
    assert told in done.stderr


def test_the_tracer_tells_the_way_of_many(capture):
    command = [program(), "--path", "xdp", "--config", CONFIG, "--in", capture, "-v", "--ways", "16"]
    told = dict(line.strip().split(None, 1) for line in subprocess.check_output(command, text=True).splitlines()[1:])
    bucket = (flow_hash(Ether(FRAME)) >> 40) % 16
    assert told["way"] == f"02:00:00:00:01:{bucket:02x}, by bucket {bucket} of the hash's 16"
    assert f"to 02:00:00:00:01:{bucket:02x}, " in told["out"]
