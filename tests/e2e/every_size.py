#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Frames of every size from 60 to 1514 bytes, written by hand.

  send IFNAME MAC SOURCE ADDRESS   to MAC, UDP for ADDRESS port 9, DF set
  receive IFNAME ADDRESS           takes what comes for ADDRESS as it is on the wire (mode l2); prints as JSON
                                   the sizes of those that are byte for byte what was sent, and how many are not
"""

import json
import socket
import struct
import sys
import time

SIZES = range(60, 1515)
ALL = 3  # ETH_P_ALL
SO_RCVBUFFORCE = 33  # Python has no name for it


def packet(source, address, size):
    """An IPv4 packet of size - 14 bytes."""
    length = size - 14
    udp = struct.pack("!HHHH", 4000, 9, length - 20, 0) + bytes((size * 7 + i) & 0xFF for i in range(length - 28))
    head = struct.pack("!BBHHHBBH4s4s", 0x45, 0, length, size, 0x4000, 64, 17, 0, socket.inet_aton(source),
                       socket.inet_aton(address))
    total = sum(struct.unpack("!10H", head))
    total = (total >> 16) + (total & 0xFFFF)
    return head[:10] + struct.pack("!H", ~total & 0xFFFF) + head[12:] + udp


def send(interface, mac, source, address):
    sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
    sock.bind((interface, 0))
    own = sock.getsockname()[4]
    for size in SIZES:
        sock.send(bytes.fromhex(mac.replace(":", "")) + own + b"\x08\x00" + packet(source, address, size))
        time.sleep(0.001)  # a worker that waits for its CPU must not miss any


def receive(interface, address):
    sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ALL))
    sock.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 1 << 24)
    sock.bind((interface, 0))
    print("ready", flush=True)
    right, wrong, last = [], 0, time.monotonic() + 60  # the sender has to start yet
    while time.monotonic() < last and len(right) + wrong < len(SIZES):
        sock.settimeout(max(0.01, last - time.monotonic()))
        try:
            frame = sock.recv(2048)
        except TimeoutError:
            break
        if frame[12:14] != b"\x08\x00" or frame[23] != 17 or frame[30:34] != socket.inet_aton(address):
            continue  # the sender's errors about answers that it did not expect are not ours to look at
        last = time.monotonic() + 10
        size = struct.unpack("!H", frame[18:20])[0]
        if frame[14:] == packet(socket.inet_ntoa(frame[26:30]), address, size):
            right.append(size)
        else:
            wrong += 1
    print(json.dumps({"right": right, "wrong": wrong}))


if __name__ == "__main__":
    {"send": send, "receive": receive}[sys.argv[1]](*sys.argv[2:])
