#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""UDP that counts every packet.

  serve NAME             answers each datagram on port 7, both families, with NAME in front, from the
                         address that it came to
  send ADDRESS SECONDS FLOWS RATE
                         numbered datagrams at a steady rate from FLOWS sockets, until the time is over and
                         standard input ends; prints as JSON
                         {"sent", "answered", "by": {flow: [backends in order]}, "lost": [seconds of sending]}
"""

import json
import select
import socket
import sys
import time

PORT = 7
ROOM = 8 << 20  # a program that waits for its CPU must not lose what comes meanwhile
SO_RCVBUFFORCE = 33  # Python has no name for it
IP_PKTINFO = 8


def server_socket(family, port=PORT):
    sock = socket.socket(family, socket.SOCK_DGRAM)
    if family == socket.AF_INET6:
        sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_RECVPKTINFO, 1)
    else:
        sock.setsockopt(socket.IPPROTO_IP, IP_PKTINFO, 1)
    sock.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, ROOM)
    sock.bind(("", port))
    return sock


def serve(name):
    sockets = [server_socket(socket.AF_INET), server_socket(socket.AF_INET6)]
    while True:
        for sock in select.select(sockets, [], [])[0]:
            data, info, _, peer = sock.recvmsg(2048, 256)
            # what was received as packet info, sent back, makes the answer's source
            if sock.family == socket.AF_INET:
                level, kind, value = info[0]
                info = [(level, kind, bytes(4) + value[8:12] + bytes(4))]
            else:
                info = [(level, kind, value[:16] + bytes(4)) for level, kind, value in info]
            sock.sendmsg([name.encode() + b" " + data], info, 0, peer)


def receive(sockets, flows, pending, by):
    """Takes in every answer that has come."""
    while True:
        ready = select.select(sockets, [], [], 0)[0]
        if not ready:
            return
        for sock in ready:
            name, number = sock.recv(2048).decode().split()
            if pending.pop(int(number), None) is not None:
                seen = by[flows[sock]]
                if not seen or seen[-1] != name:
                    seen.append(name)


def input_ended():
    return bool(select.select([sys.stdin], [], [], 0)[0]) and not sys.stdin.read()


def send(address, seconds, count, rate):
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    sockets = [socket.socket(family, socket.SOCK_DGRAM) for _ in range(count)]
    for sock in sockets:
        sock.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, ROOM)
        sock.connect((address, PORT))
    flows = {sock: number for number, sock in enumerate(sockets)}
    pending, by = {}, {number: [] for number in range(count)}
    begun = time.monotonic()
    number = 0
    while (now := time.monotonic()) < begun + seconds or not input_ended():
        if number <= (now - begun) * rate:
            pending[number] = now
            sockets[number % count].send(str(number).encode())
            number += 1
        else:
            select.select(sockets, [], [], 0.001)
        receive(sockets, flows, pending, by)
    last = time.monotonic() + 20
    while pending and time.monotonic() < last:
        select.select(sockets, [], [], 0.1)
        receive(sockets, flows, pending, by)
    lost = sorted(pending.values())
    print(json.dumps({"sent": number, "answered": number - len(lost), "by": by, "lost": lost}))


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve(sys.argv[2])
    else:
        send(sys.argv[2], float(sys.argv[3]), int(sys.argv[4]), float(sys.argv[5]))
