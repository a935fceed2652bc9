#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Sends frames as they are: `send_frames.py INTERFACE < file`, the file a JSON list of hexadecimal frames."""

import json
import socket
import sys
import time

sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
sock.bind((sys.argv[1], 0))
for number, frame in enumerate(json.load(sys.stdin)):
    sock.send(bytes.fromhex(frame))
    if number % 64 == 63:
        time.sleep(0.005)  # so that no queue on the way overflows
