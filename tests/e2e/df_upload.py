#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""
Uploads with DF set, as TCP does by itself.

  serve              takes connections on port 9000, counts what comes and says so at the end
  send ADDRESS BYTES sends so much and prints what the server counted and the path MTU that TCP ended with
  unreachable ADDRESS PORT
                     as a router would: ICMP port unreachable about a datagram from ADDRESS:7 to our PORT
"""

import json
import socket
import struct
import sys
import threading

PORT = 9000
IP_MTU, IPV6_MTU = 14, 24


def count(connection):
    total = 0
    with connection:
        while data := connection.recv(1 << 16):
            total += len(data)
        connection.sendall(b"%d\n" % total)


def serve():
    with socket.create_server(("::", PORT), family=socket.AF_INET6, dualstack_ipv6=True, backlog=64) as server:
        while True:
            threading.Thread(target=count, args=server.accept()[:1], daemon=True).start()


def send(address, size):
    with socket.create_connection((address, PORT), timeout=20) as sock:
        sock.sendall(bytes(size))
        sock.shutdown(socket.SHUT_WR)
        counted = int(sock.makefile().readline())
        level = (socket.IPPROTO_IPV6, IPV6_MTU) if ":" in address else (socket.IPPROTO_IP, IP_MTU)
        print(json.dumps({"counted": counted, "mtu": sock.getsockopt(*level)}))


def checksum(data):
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def unreachable(address, port):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect((address, 7))
        own = probe.getsockname()[0]
    ends = socket.inet_aton(address) + socket.inet_aton(own)
    quote = struct.pack("!BBHHHBBH", 0x45, 0, 40, 1, 0, 60, 17, 0) + ends + struct.pack("!HHHH", 7, port, 20, 0)
    message = struct.pack("!BBHI", 3, 3, 0, 0) + quote
    message = message[:2] + struct.pack("!H", checksum(message)) + message[4:]
    with socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP) as sock:
        sock.sendto(message, (address, 0))


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve()
    elif sys.argv[1] == "send":
        send(sys.argv[2], int(sys.argv[3]))
    else:
        unreachable(sys.argv[2], int(sys.argv[3]))
