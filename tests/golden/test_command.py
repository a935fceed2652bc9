# SPDX-License-Identifier: BSD-2-Clause
"""guideway-replay as a command: what it refuses and how it ends."""

import subprocess

import pytest
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
    return subprocess.run(command, stderr=subprocess.PIPE, text=True, timeout=60, check=False, **how)


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
