# SPDX-License-Identifier: BSD-2-Clause
"""Names and addresses of a lab. Nothing here touches the system."""

import dataclasses
import re

RUN_ROOT = "/run/guideway-lab"
DEFAULT_PREFIX = "gw"
DEFAULT_SERVICE = ["203.0.113.10", "2001:db8:113::10"]
ROUTED = ["203.0.113.0/24", "2001:db8:113::/64"]
CLIENT_GATEWAY = ("10.81.0.1", "fd81::1")
FABRIC_GATEWAY = ("10.82.0.1", "fd82::1")
MAX_BALANCERS = 80
MAX_BACKENDS = 150


class LabError(Exception):
    """Something a person can act on; the text says what. `status` is the command's exit status."""

    status = 1


class UsageError(LabError):
    """An argument that no lab can have."""

    status = 2


class MissingError(LabError):
    """A lab or a node that is not there."""

    status = 4


@dataclasses.dataclass(frozen=True)
class Node:
    """One namespace with one interface that matters."""

    name: str
    namespace: str
    interface: str
    ipv4: str
    ipv6: str

    @property
    def is_balancer(self):
        return re.fullmatch(r"lb\d+", self.name) is not None

    @property
    def is_backend(self):
        return re.fullmatch(r"b\d+", self.name) is not None


@dataclasses.dataclass(frozen=True)
class Plan:
    """Who is in the lab. Addresses follow from the numbers."""

    prefix: str
    balancers: int
    backends: int

    def __post_init__(self):
        prefix_check(self.prefix)
        if not 1 <= self.balancers <= MAX_BALANCERS:
            raise UsageError(f"--balancers {self.balancers}: 1 to {MAX_BALANCERS}")
        if not 1 <= self.backends <= MAX_BACKENDS:
            raise UsageError(f"--backends {self.backends}: 1 to {MAX_BACKENDS}")

    def _node(self, name, interface, ipv4, ipv6):
        return Node(name, f"{self.prefix}-{name}", interface, ipv4, ipv6)

    @property
    def client(self):
        return self._node("client", "eth0", "10.81.0.2", "fd81::2")

    @property
    def router(self):
        return self._node("router", "eth1", *FABRIC_GATEWAY)

    @property
    def fabric(self):
        return f"{self.prefix}-fabric"

    @property
    def lbs(self):
        return [
            self._node(f"lb{i}", "eth1", f"10.82.0.{10 + i}", f"fd82::{10 + i}")
            for i in range(1, self.balancers + 1)
        ]

    @property
    def bs(self):
        return [
            self._node(f"b{i}", "eth1", f"10.82.0.{100 + i}", f"fd82::{100 + i}")
            for i in range(1, self.backends + 1)
        ]

    @property
    def nodes(self):
        return [self.client, self.router, *self.lbs, *self.bs]

    @property
    def namespaces(self):
        return [self.fabric] + [node.namespace for node in self.nodes]

    def node(self, name):
        for node in self.nodes:
            if node.name == name:
                return node
        names = ", ".join(node.name for node in self.nodes)
        raise MissingError(f"lab {self.prefix} has no node {name!r}; it has {names}")


def prefix_check(prefix):
    if not re.fullmatch(r"[a-z][a-z0-9]{0,15}", prefix):
        raise UsageError(f"--prefix {prefix!r}: a lower-case letter, then at most 15 letters or digits")


def run_dir(prefix):
    return f"{RUN_ROOT}/{prefix}"


def namespace_of(prefix, name):
    """True when a namespace of this name belongs to the lab of this prefix."""
    return re.fullmatch(rf"{re.escape(prefix)}-(client|router|fabric|lb\d+|b\d+)", name) is not None
