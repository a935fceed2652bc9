#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""An independent reference for what tests/unit/builder.c, lookup.c and plan.c expect.

Maglev as Envoy builds it (hashing.md), the digest and the choice of a slot (design.md), written
from those texts with Python's xxhash (apt install python3-xxhash) and shared with no C code.

    maglev.py table SIZE KEY[@WEIGHT]...     slots per member, digest
    maglev.py slots SIZE KEY[@WEIGHT]...     the whole table
    maglev.py flow SEED SIZE PROTO SRC SPORT DST DPORT KEY[@WEIGHT]...   hash, slot, owner
"""
import ipaddress
import struct
import sys

import xxhash


def table(size, members):
    """members: {key: weight}; returns the list of owners' keys by slot."""
    keys = sorted((k for k in members if members[k] > 0), key=lambda k: k.encode())
    total = float(sum(members[k] for k in keys))
    weights = [members[k] / total for k in keys]
    largest = max(weights)
    turns = []
    for key in keys:
        offset = xxhash.xxh64(key.encode(), seed=0).intdigest() % size
        skip = xxhash.xxh64(key.encode(), seed=1).intdigest() % (size - 1) + 1
        turns.append([offset, skip, 0, 0.0])  # offset, skip, next, target
    slots = [None] * size
    filled, iteration = 0, 1
    while True:
        for i, turn in enumerate(turns):
            if iteration * weights[i] < turn[3]:
                continue
            turn[3] += largest
            slot = (turn[0] + turn[1] * turn[2]) % size
            while slots[slot] is not None:
                turn[2] += 1
                slot = (turn[0] + turn[1] * turn[2]) % size
            slots[slot] = keys[i]
            turn[2] += 1
            filled += 1
            if filled == size:
                return slots
        iteration += 1


def digest(size, slots):
    data = struct.pack("<I", size) + b"".join(key.encode() + b"\0" for key in slots)
    return xxhash.xxh3_128(data).hexdigest()


def packed(address):
    address = ipaddress.ip_address(address)
    return address.packed if address.version == 6 else b"\0" * 10 + b"\xff\xff" + address.packed


def flow_hash(seed, protocol, source, source_port, destination, destination_port):
    key = packed(source) + packed(destination)
    key += struct.pack(">HHB3x", source_port, destination_port, protocol)
    return xxhash.xxh3_64(key, seed=seed).intdigest()


def members_of(words):
    pairs = [word.partition("@") for word in words]
    return {key: int(weight or 1) for key, _, weight in pairs}


def main(arguments):
    if arguments[0] in ("table", "slots"):
        size = int(arguments[1])
        slots = table(size, members_of(arguments[2:]))
        if arguments[0] == "slots":
            order = sorted(set(slots), key=lambda k: k.encode())
            print(*(order.index(key) for key in slots))
        for key in sorted(set(slots), key=lambda k: k.encode()):
            print(key, slots.count(key))
        print(digest(size, slots))
    elif arguments[0] == "flow":
        seed, size, protocol = (int(word) for word in arguments[1:4])
        source, source_port, destination, destination_port = arguments[4:8]
        value = flow_hash(
            seed, protocol, source, int(source_port), destination, int(destination_port))
        slots = table(size, members_of(arguments[8:]))
        print(f"{value:016x} slot {value % size} {slots[value % size]} {digest(size, slots)}")
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
