# SPDX-License-Identifier: BSD-2-Clause
"""Follows the balancer through its CLI: health, table, packet counters, each with the time it was seen."""

import dataclasses
import threading
import time

from labkit.plan import LabError


@dataclasses.dataclass
class Table:
    """A pool's table as seen at some moment."""

    at: float
    digest: str
    slots: list


def table_read(lab, pool="web"):
    """The whole table; `slots` holds backends' names."""
    shown = lab.json("lb1", ["guideway", "table", "show", pool, "--full"])
    names = [backend["name"] for backend in shown["backends"]]
    slots = [names[slot] if isinstance(slot, int) else slot for slot in shown["slots"]]
    return Table(time.monotonic(), shown["digest"], slots)


def digest_of(lab, pool="web"):
    """Names the table in force: the digest changes exactly when some slot does."""
    return lab.json("lb1", ["guideway", "table", "show", pool])["digest"]


def health_of(lab, name):
    for backend in lab.json("lb1", ["guideway", "backend", "list"]):
        if backend["name"] == name:
            return backend["health"]
    raise LabError(f"guideway backend list does not know {name}")


def packets_sent(lab):
    """Packets that the balancer handed over so far."""
    return lab.json("lb1", ["guideway", "drops"])["tx"]


def drops_of(lab):
    drops = lab.json("lb1", ["guideway", "drops"])["drops"]
    return {name: count for name, count in drops.items() if count}


def decapsulated(lab, name):
    """Tunnel packets that a backend took in so far."""
    pins = lab.pin_dir(lab.plan.node(name))
    shown = lab.json(name, ["guideway-decap", "stats", "eth1", "--pin-dir", pins])
    return sum(count for key, count in shown[0]["packets"].items() if key.startswith("decap_"))


class RateWatch(threading.Thread):
    """Samples the balancer's packet counter each second: rates, packets per second."""

    def __init__(self, lab):
        super().__init__(daemon=True)
        self.lab = lab
        self.rates = []
        self.ended = threading.Event()

    def run(self):
        last = None
        while not self.ended.wait(1.0):
            try:
                now = (time.monotonic(), packets_sent(self.lab))
            except (LabError, OSError, ValueError):
                continue
            if last and now[0] > last[0]:
                self.rates.append((now[1] - last[1]) / (now[0] - last[0]))
            last = now

    def stop(self):
        self.ended.set()
        self.join(5)
