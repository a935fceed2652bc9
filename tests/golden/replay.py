# SPDX-License-Identifier: BSD-2-Clause
"""Runs guideway-replay on frames and reads back what it says and sends."""

import json
import os
import pathlib
import subprocess

from scapy.utils import RawPcapReader, RawPcapWriter

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("GUIDEWAY_BUILD", ROOT / "build"))
PATHS = ("dpdk", "xdp")


def program():
    found = BUILD / "tools" / "replay" / "guideway-replay"
    assert found.exists(), f"{found} is missing: build first, or set GUIDEWAY_BUILD"
    return found


def write_capture(path, frames):
    """frames: bytes, or (seconds, bytes)."""
    writer = RawPcapWriter(str(path), linktype=1, nano=True, sync=False)
    writer.write_header(None)
    for index, frame in enumerate(frames):
        seconds, data = frame if isinstance(frame, tuple) else (1000 + index // 1000000, frame)
        whole = int(seconds)
        writer.write_packet(data, sec=whole, usec=int((seconds - whole) * 1e9))
    writer.close()


def read_capture(path):
    return [data for data, _ in RawPcapReader(str(path))]


def replay(path, config, frames, folder, down=(), mtu=None, ways=None, untraced=False):
    """Returns (lines, frames out) or raises with what the program said."""
    source, sink = folder / f"{path}-in.pcap", folder / f"{path}-out.pcap"
    write_capture(source, frames)
    command = [program(), "--path", path, "--config", config, "--in", source, "--out", sink, "--json"]
    for name in down:
        command += ["--down", name]
    if mtu:
        command += ["--mtu", str(mtu)]
    if ways:
        command += ["--ways", str(ways)]
    if untraced:
        command += ["--untraced"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, f"{path}: exit {done.returncode}\n{done.stderr}"
    return [json.loads(line) for line in done.stdout.splitlines()], read_capture(sink)
