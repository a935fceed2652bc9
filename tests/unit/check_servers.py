#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Servers for the tests of check types: grpc.health.v1 by Debian's gRPC, UDP and TLS drips.

check_servers.py GRPC UDP DRIP: three ports on 127.0.0.1. Prints "ready" once all listen.
"""
import concurrent.futures
import socket
import sys
import threading
import time

import grpc

# HealthCheckResponse{status} by hand: field 1, varint.
STATUSES = {"": b"\x08\x01", "good": b"\x08\x01", "bad": b"\x08\x02", "garbage": b"\xff\xff\xff"}


def check(request, context):
    name = request[2:].decode() if request else ""
    if name not in STATUSES:
        context.abort(grpc.StatusCode.NOT_FOUND, "no such service")
    return STATUSES[name]


def grpc_serve(port):
    server = grpc.server(concurrent.futures.ThreadPoolExecutor(2))
    method = grpc.unary_unary_rpc_method_handler(check)
    handler = grpc.method_handlers_generic_handler("grpc.health.v1.Health", {"Check": method})
    server.add_generic_rpc_handlers((handler,))
    server.add_insecure_port(f"127.0.0.1:{port}")
    server.start()
    return server


def udp_serve(port):
    """ping -> pong, mute -> nothing, the rest comes back."""
    server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    server.bind(("127.0.0.1", port))

    def run():
        while True:
            data, peer = server.recvfrom(2048)
            if data == b"mute":
                continue
            server.sendto(b"xpongx" if data == b"ping" else data, peer)

    threading.Thread(target=run, daemon=True).start()


def drip_serve(port):
    """Takes connections and sends a byte of nonsense now and then, whatever it is told."""
    server = socket.create_server(("127.0.0.1", port))

    def drip(peer):
        try:
            while True:
                peer.sendall(b"\x16")
                time.sleep(0.02)
        except OSError:
            peer.close()

    def run():
        while True:
            peer, _ = server.accept()
            threading.Thread(target=drip, args=(peer,), daemon=True).start()

    threading.Thread(target=run, daemon=True).start()


def main():
    ports = [int(word) for word in sys.argv[1:]]
    server = grpc_serve(ports[0])
    udp_serve(ports[1])
    drip_serve(ports[2])
    print("ready", flush=True)
    sys.stdin.read()  # until the test closes our standard input
    server.stop(None)


main()
