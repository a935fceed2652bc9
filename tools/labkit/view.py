# SPDX-License-Identifier: BSD-2-Clause
"""What the balancer says of itself, through its CLI, and what the backends' decapsulators counted."""

import dataclasses
import time

from . import process
from .plan import LabError


@dataclasses.dataclass
class Table:
    """A pool's table as seen at some moment."""

    at: float
    digest: str
    slots: list


def table_read(lab, pool="web", node="lb1"):
    """The whole table; `slots` holds backends' names."""
    shown = lab.json(node, ["guideway", "table", "show", pool, "--full"])
    names = [backend["name"] for backend in shown["backends"]]
    slots = [names[slot] if isinstance(slot, int) else slot for slot in shown["slots"]]
    return Table(time.monotonic(), shown["digest"], slots)


def digest_of(lab, pool="web", node="lb1"):
    """Names the table in force: the digest changes exactly when some slot does."""
    return lab.json(node, ["guideway", "table", "show", pool])["digest"]


def health_of(lab, name, node="lb1"):
    for backend in lab.json(node, ["guideway", "backend", "list"]):
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
    shown = lab.json(name, ["guideway-decap", "stats", "eth1"])
    return sum(count for key, count in shown[0]["packets"].items() if key.startswith("decap_"))


def backends_up(lab, node="lb1"):
    """Names of the backends that are healthy and have slots."""
    listed = lab.json(node, ["guideway", "backend", "list"])
    return {one["name"] for one in listed if one["health"] == "up" and one["slots"]}


def in_force(lab, node="lb1"):
    """Whether the datapath decides by what control built last."""
    snapshot = lab.json(node, ["guideway", "status"])["snapshot"]
    return snapshot["built"] == snapshot["in_force"]


def _describe(lab, node):
    """What a balancer says of its backends and of what is in force, for a message."""
    listed = lab.json(node, ["guideway", "backend", "list"])
    backends = ", ".join(
        f"{one['pool']}/{one['name']} {one['health']} {one['slots']} slots, {one.get('last_failure')}" for one in listed
    )
    return f"{backends}; snapshot {lab.json(node, ['guideway', 'status'])['snapshot']}"


def _wait(lab, node, what, check, patience):
    try:
        process.wait_for(what, check, patience, 0.1)
    except LabError as problem:
        raise LabError(f"{problem}: {_describe(lab, node)}") from None


def wait_members(lab, count, node="lb1", patience=process.PATIENCE):
    """Waits until `count` members of all pools together are up and have slots in the tables in force."""

    def there():
        listed = lab.json(node, ["guideway", "backend", "list"])
        up = sum(one["health"] == "up" and one["slots"] > 0 for one in listed)
        return up == count and in_force(lab, node)

    _wait(lab, node, f"{count} members on {node}", there, patience)


def wait_all_up(lab, patience=process.PATIENCE):
    """Waits until every backend of the lab is up on every balancer, and the datapath knows."""
    for node in lab.plan.lbs:
        _wait(
            lab,
            node.name,
            f"every backend to be up on {node.name}",
            lambda name=node.name: len(backends_up(lab, name)) == lab.options.backends and in_force(lab, name),
            patience,
        )
