#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Packets of random clients to one service, each of a flow of its own, some 20,000 a second.

  flood.py KINDS COUNT ADDRESS
        KINDS: of syn, ack, udp, joined by commas; COUNT packets of each to an IPv4 address,
        TCP to port 80, UDP to port 7, from sources in 198.18.0.0/15 (RFC 2544)

Checksums of TCP are left wrong: the balancer does not look at them, and a backend drops such packets in silence.
"""

import random
import socket
import struct
import sys
import time

PROTOCOLS = {"syn": socket.IPPROTO_TCP, "ack": socket.IPPROTO_TCP, "udp": socket.IPPROTO_UDP}
TCP_FLAGS = {"syn": 0x02, "ack": 0x10}


def packet(kind, dice, address):
    source = struct.pack("!I", (198 << 24 | 18 << 16) + dice.randrange(1 << 17))
    port = dice.randrange(1024, 65536)
    if kind == "udp":
        data = struct.pack("!HHHH", port, 7, 8, 0)
    else:
        data = struct.pack("!HHIIBBHHH", port, 80, dice.getrandbits(32), 1, 0x50, TCP_FLAGS[kind], 8192, 0, 0)
    # the kernel fills in length, id and checksum of the header (raw(7))
    head = struct.pack("!BBHHHBBH", 0x45, 0, 0, 0, 0x4000, 64, PROTOCOLS[kind], 0)
    return head + source + address + data


def main():
    kinds, count, address = sys.argv[1].split(","), int(sys.argv[2]), sys.argv[3]
    dice = random.Random(sys.argv[1])  # two floods must not meet: a second packet makes a flow established
    sock = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)
    target = socket.inet_aton(address)
    for number in range(count):
        if number % 128 == 0:
            time.sleep(0.005)  # so that no queue on the way overflows
        for kind in kinds:
            sock.sendto(packet(kind, dice, target), (address, 0))


if __name__ == "__main__":
    main()
