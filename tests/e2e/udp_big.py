#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""UDP datagrams that leave in IP fragments.

  serve NAME                 answers each datagram on port 9 with NAME and the datagram
  send ADDRESS COUNT SIZE    datagrams of SIZE bytes, one after the other, in fragments made by the kernel
  reversed ADDRESS COUNT SIZE
                             the same over IPv4, in fragments made here and sent last first
Both print as JSON {"answered": numbers in the order of their answers, "by": [backends]}.
"""

import json
import select
import socket
import struct
import sys

from udp_echo import server_socket

PORT = 9
PIECE = 1200


def serve(name):
    sockets = [server_socket(socket.AF_INET, PORT), server_socket(socket.AF_INET6, PORT)]
    while True:
        for sock in select.select(sockets, [], [])[0]:
            data, info, _, peer = sock.recvmsg(65536, 256)
            if sock.family == socket.AF_INET:
                level, kind, value = info[0]
                info = [(level, kind, bytes(4) + value[8:12] + bytes(4))]
            else:
                info = [(level, kind, value[:16] + bytes(4)) for level, kind, value in info]
            sock.sendmsg([name.encode().ljust(8) + data], info, 0, peer)


def checksum(data):
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    total = (total >> 16) + (total & 0xFFFF)
    return ~(total + (total >> 16)) & 0xFFFF


def send_reversed(raw, source, sport, address, ident, data):
    datagram = struct.pack("!HHHH", sport, PORT, 8 + len(data), 0) + data
    for at in reversed(range(0, len(datagram), PIECE)):
        part = datagram[at : at + PIECE]
        more = at + PIECE < len(datagram)
        head = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(part), ident, more << 13 | at // 8, 64, 17, 0,
                           socket.inet_aton(source), socket.inet_aton(address))
        raw.sendto(head[:10] + struct.pack("!H", checksum(head)) + head[12:] + part, (address, 0))


def send(how, address, count, size):
    sock = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_DGRAM)
    sock.connect((address, PORT))
    sock.settimeout(10)
    source, sport = sock.getsockname()[:2]
    raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW) if how == "reversed" else None
    answered, names = [], []
    for number in range(count):
        data = struct.pack("!I", number) * (size // 4)
        if raw:
            send_reversed(raw, source, sport, address, number + 1, data)
        else:
            sock.send(data)
        try:
            answer = sock.recv(65536)
        except TimeoutError:
            continue
        assert answer[8:] == data, "the answer holds other bytes"
        answered.append(number)
        names.append(answer[:8].decode().strip())
    print(json.dumps({"answered": answered, "by": sorted(set(names))}))


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve(sys.argv[2])
    else:
        send(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
