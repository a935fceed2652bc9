#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""A download over a connection of which the client has closed its half at once.

  serve            on port 7300, says when it is ready: reads to the client's end, then sends PIECES pieces, one each PAUSE seconds
  fetch ADDRESS    says when its half is closed, then how many bytes came before the server's end
"""

import socket
import sys
import threading
import time

PORT, PIECES, PIECE, PAUSE = 7300, 55, 4000, 0.2


def answer(connection):
    while connection.recv(4096):
        pass
    for _ in range(PIECES):
        connection.sendall(bytes(PIECE))
        time.sleep(PAUSE)
    connection.close()


def serve():
    with socket.create_server(("", PORT)) as listener:
        print("ready", flush=True)
        while True:
            connection, _ = listener.accept()
            threading.Thread(target=answer, args=(connection,), daemon=True).start()


def fetch(address):
    with socket.create_connection((address, PORT), timeout=30) as connection:
        connection.sendall(b"please")
        connection.shutdown(socket.SHUT_WR)
        print("half closed", flush=True)
        print(sum(len(data) for data in iter(lambda: connection.recv(65536), b"")))


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve()
    else:
        fetch(sys.argv[2])
