#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""An upload that is counted at its end.

  serve NAME            on port 7299, both families: reads to the client's end, answers "NAME BYTES"
  send ADDRESS BYTES    prints the answer
"""

import socket
import sys

PORT = 7299


def serve(name):
    with socket.create_server(("", PORT), family=socket.AF_INET6, dualstack_ipv6=True) as listener:
        while True:
            connection, _ = listener.accept()
            with connection:
                size = sum(len(data) for data in iter(lambda: connection.recv(1 << 16), b""))
                connection.sendall(f"{name} {size}\n".encode())


def send(address, size):
    with socket.create_connection((address, PORT), timeout=30) as connection:
        connection.sendall(bytes(size))
        connection.shutdown(socket.SHUT_WR)
        print(connection.makefile().read().strip())


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve(sys.argv[2])
    else:
        send(sys.argv[2], int(sys.argv[3]))
