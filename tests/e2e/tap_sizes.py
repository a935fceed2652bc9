#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Frames of every size through a tap device that this program holds.

Makes tap0 with 10.9.0.1/24 and a neighbour 10.9.0.2 that never answers, says so, and waits for a line. Then it sends UDP for
ADDRESS port 9 in frames of every size and takes what comes back, as every_size.py's `receive` does.
"""

import fcntl
import json
import os
import select
import struct
import subprocess
import sys

import every_size

TUNSETIFF, IFF_TAP, IFF_NO_PI = 0x400454CA, 0x0002, 0x1000
OWN, ROUTER, NEIGHBOUR = "02:00:00:00:09:01", "02:00:00:00:09:09", "02:00:00:00:09:02"


def raw(mac):
    return bytes.fromhex(mac.replace(":", ""))


def tap_make():
    fd = os.open("/dev/net/tun", os.O_RDWR)
    fcntl.ioctl(fd, TUNSETIFF, struct.pack("16sH22x", b"tap0", IFF_TAP | IFF_NO_PI))
    for command in (
        f"link set tap0 address {OWN} up",
        "addr add 10.9.0.1/24 dev tap0",
        f"neigh add 10.9.0.2 lladdr {NEIGHBOUR} dev tap0 nud permanent",
    ):
        subprocess.run(["ip", *command.split()], check=True)
    return fd


def answer(fd, wanted):
    """The frame that leaves with our next hop's MAC; others are the host's own."""
    while select.select([fd], [], [], 2)[0]:
        frame = os.read(fd, 4096)
        if frame[:6] == raw(NEIGHBOUR) and frame[12:14] == b"\x08\x00":
            return frame[14:] == wanted and frame[6:12] == raw(OWN)
    return False


def main():
    fd, address, right = tap_make(), sys.argv[1], []
    print("ready", flush=True)
    sys.stdin.readline()
    for size in every_size.SIZES:
        packet = every_size.packet("10.81.0.2", address, size)
        os.write(fd, raw(OWN) + raw(ROUTER) + b"\x08\x00" + packet)
        if answer(fd, packet):
            right.append(size)
    print(json.dumps(right))


if __name__ == "__main__":
    main()
