# SPDX-License-Identifier: BSD-2-Clause
"""A port that DPDK owns alone: all that is not the balancer's goes to the kernel by a tap and comes back.

The port is a net_tap device whose own interface, "wire0", is moved into a namespace of its own: what that end
sends arrives at the port, and nowhere else. The host's tap, "gw0", carries the port's addresses.
"""

import hashlib
import os
import subprocess

import pytest
from labkit import process

from conftest import BUILD

ADDRESSES = (("10.9.0.1", "10.9.0.2", 24), ("fd09::1", "fd09::2", 64))


def ip(*words):
    subprocess.run(["ip", *words], check=True)


@pytest.fixture(scope="module")
def ends(tmp_path_factory):
    """The two namespaces' names, the balancer's and the wire's, with guideway-dataplane running."""
    folder = tmp_path_factory.mktemp("host")
    here, wire = (f"gwh{os.getpid()}-{name}" for name in ("lb", "wire"))
    log = folder / "dataplane.log"
    pid = None
    try:
        for name in (here, wire):
            ip("netns", "add", name)
            ip("-n", name, "link", "set", "lo", "up")
        words = f"--port net_tap0,kernel=gw0 --cpus 1 --flows 1024 --socket {folder}/socket -- --no-huge -m 256 "
        words += "--in-memory --no-pci --no-telemetry --vdev net_tap0,iface=wire0"
        program = process.program_find(BUILD, "guideway-dataplane")
        pid = process.spawn(["ip", "netns", "exec", here, program, *words.split()], log)
        process.wait_for("guideway-dataplane to listen", lambda: os.path.exists(f"{folder}/socket"))
        ip("-n", here, "link", "set", "wire0", "netns", wire)
        ip("-n", wire, "link", "set", "wire0", "address", "02:00:00:00:00:77", "up")
        for own, other, bits in ADDRESSES:
            nodad = ["nodad"] if ":" in own else []
            ip("-n", here, "addr", "add", f"{own}/{bits}", "dev", "gw0", *nodad)
            ip("-n", wire, "addr", "add", f"{other}/{bits}", "dev", "wire0", *nodad)
        yield here, wire
        assert process.alive(pid), process.log_tail(log)
    finally:
        if pid:
            process.end(pid)
        for name in (here, wire):
            subprocess.run(["ip", "netns", "del", name], check=False)


def download(server, client, address, folder):
    """What the client's namespace gets from a web server in the other one, and what was served."""
    content = os.urandom(3_000_000)
    (folder / "content").write_bytes(content)
    family = "::" if ":" in address else "0.0.0.0"
    command = ["/usr/bin/python3", "-m", "http.server", "--bind", family, "--directory", folder, "8000"]
    pid = process.spawn(["ip", "netns", "exec", server, *command], folder / "server.log")
    host = f"[{address}]" if ":" in address else address
    curl = ["curl", "-gsS", "--retry", "20", "--retry-connrefused", "--retry-delay", "1", "-m", "30"]
    try:
        done = subprocess.run(
            ["ip", "netns", "exec", client, *curl, f"http://{host}:8000/content"],
            capture_output=True,
            check=True,
        )
    finally:
        process.end(pid)
    return hashlib.sha256(done.stdout).digest(), hashlib.sha256(content).digest()


@pytest.mark.parametrize("own,other", [pair[:2] for pair in ADDRESSES], ids=["ipv4", "ipv6"])
def test_the_host_is_reached_and_reaches_others_through_the_port(ends, tmp_path, own, other):
    here, wire = ends
    got, served = download(here, wire, own, tmp_path)
    assert got == served
    got, served = download(wire, here, other, tmp_path)
    assert got == served
