# SPDX-License-Identifier: BSD-2-Clause
"""Several next hops: a flow's hash chooses, from its first packet on, new, established or in no flow table at all, in
any tunnel and at any size; ICMP errors go the way of the flow that they quote. A backend on the link has one way."""

from golden import *

WAYS = 5
PORTS = range(40000, 40024)


def way(hashed):
    """Bucket (hash >> 40) mod 16 (objects.h), bucket b by way b mod WAYS."""
    return (hashed >> 40) % 16 % WAYS


def sent(frame, hashed):
    frame = frame.copy()
    frame[Ether].dst = f"02:00:00:00:01:{way(hashed):02x}"
    return frame


def segment(port, flags, size=0):
    return in4(flags="DF") / TCP(sport=port, dport=80, flags=flags) / Raw(bytes(size))


def datagram(port):
    return in6(dst="2001:db8:113::142") / UDP(sport=port, dport=7) / b"gue over IPv6"


def local(port):
    return in4(dst="203.0.113.146") / TCP(sport=port, dport=80, flags="S")


def too_big(port):
    """A router on the way to the client, about the answer that the backend sent it."""
    quote = IP(src=VIP4, dst=CLIENT4, flags="DF", len=1500) / TCP(sport=80, dport=port)
    return in4(src="192.0.2.1", flags="DF") / ICMP(type=3, code=4, nexthopmtu=1300) / Raw(bytes(quote)[:28])


IN, OUT, LINES = [], [], []


def expect(frame, out, hashed, backend):
    IN.append(frame)
    LINES.append(tx(backend, len(OUT)))
    OUT.append(out if hashed is None else sent(out, hashed))


for PORT in PORTS:
    CHOICE = flow_hash(segment(PORT, "S"))
    for FLAGS, SIZE in (("S", 0), ("A", 700), ("A", 0)):
        FRAME = segment(PORT, FLAGS, SIZE)
        expect(FRAME, outer4(inner(FRAME), proto=4), CHOICE, "b4")
    expect(too_big(PORT), outer4(inner(too_big(PORT)), proto=4), CHOICE, "b4")
    FRAME = datagram(PORT)
    expect(FRAME, gue6(FRAME, "fd82::141"), flow_hash(FRAME), "g6")
    expect(local(PORT), l2(local(PORT)), None, "l4")

assert len({frame.dst for frame in OUT}) == WAYS + 1
