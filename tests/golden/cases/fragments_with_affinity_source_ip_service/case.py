# SPDX-License-Identifier: BSD-2-Clause
"""affinity: source_ip_service: the hash is of the reduced key, the datagram's name is not."""

from golden import *

WHOLES = [in4(id=77 + i, flags=0) / UDP(sport=4000 + i, dport=53) / Raw(DATA[:2000]) for i in range(4)]
IN = [piece for whole in WHOLES for piece in cut4(whole, 1200)]
LINES = [dict(verdict="tx", out=[i]) for i in range(8)]


def check(lines, frames):
    key = canonical(CLIENT4) + canonical(VIP4) + struct.pack(">HHB3x", 0, 53, 17)
    assert {int(line["hash"], 16) for line in lines} == {xxhash.xxh3_64_intdigest(key, seed=0)}
    assert len({line["backend"] for line in lines}) == 1
