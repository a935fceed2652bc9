# SPDX-License-Identifier: BSD-2-Clause
"""Makes the lab's namespaces, links, addresses and routes; removes them by prefix.

Traps that this file steps around:
- veth hands on unfinished checksums and super-frames: offloads are off at both ends of every link.
- an interface takes in its peer's XDP_TX only while it runs NAPI: the bridge's end of a balancer's link
  has a program that passes everything (bpf/pass.bpf.c).
- a balancer's kernel must never answer or forward what is for a service: it has blackhole routes.
- duplicate address detection and bridge learning delays would make the first seconds flaky: both off.
"""

import os
import signal
import subprocess
import time

from . import plan as plans
from .plan import LabError

SYSCTLS = [
    "net.ipv4.conf.all.rp_filter=0",
    "net.ipv4.conf.default.rp_filter=0",
    "net.ipv6.conf.all.accept_dad=0",
    "net.ipv6.conf.default.accept_dad=0",
    "net.ipv6.conf.default.accept_ra=0",
    "net.ipv6.conf.default.router_solicitations=0",
    "net.ipv4.ip_local_port_range=10000 65000",
]
SYSCTLS_FORWARD = [
    "net.ipv4.ip_forward=1",
    "net.ipv6.conf.all.forwarding=1",
    "net.ipv6.conf.default.forwarding=1",
]
SYSCTLS_ROUTER = [
    "net.ipv4.conf.all.send_redirects=0",
    "net.ipv4.conf.default.send_redirects=0",
    "net.ipv4.fib_multipath_hash_policy=1",
    "net.ipv6.fib_multipath_hash_policy=1",
]
SYSCTLS_BACKEND = [
    "net.ipv4.conf.all.arp_ignore=1",
    "net.ipv4.conf.all.arp_announce=2",
    "net.core.somaxconn=8192",
    "net.ipv4.tcp_max_syn_backlog=8192",
]
OFFLOADS = "rx on tx off sg off tso off gso off gro off rxvlan off txvlan off"


def run(command, stdin=None):
    """Runs a command to its end; its own words in the error when it fails."""
    done = subprocess.run(command, input=stdin, text=True, capture_output=True, check=False)
    if done.returncode:
        text = (done.stderr or done.stdout).strip()
        raise LabError(f"{' '.join(command[:8])}: {text or f'exit status {done.returncode}'}")
    return done.stdout


def netns_exec(namespace, command, stdin=None):
    return run(["ip", "netns", "exec", namespace, *command], stdin)


def _ip_batch(namespace, lines):
    run(["ip", "-n", namespace, "-batch", "-"], "\n".join(lines) + "\n")


def _namespace_make(namespace, sysctls):
    run(["ip", "netns", "add", namespace])
    netns_exec(namespace, ["sysctl", "-q", "-w", *sysctls])
    _ip_batch(namespace, ["link set lo up"])


def _offloads_off(namespace, interfaces):
    # Not every kernel knows every feature of the list; ethtool then says so and does the rest.
    script = "; ".join(f"ethtool -K {name} {OFFLOADS} >/dev/null 2>&1 || true" for name in interfaces)
    netns_exec(namespace, ["sh", "-c", script])


def _address_lines(interface, ipv4, ipv6):
    return [
        f"addr add {ipv4}/24 dev {interface}",
        f"addr add {ipv6}/64 dev {interface} nodad",
        f"link set {interface} up",
    ]


def _default_lines(gateway):
    return [f"route add default via {gateway[0]}", f"route add default via {gateway[1]}"]


def _multipath_lines(routed, gateways, interface):
    hops = " ".join(f"nexthop via {gateway} dev {interface}" for gateway in gateways)
    return f"route add {routed} {hops}"


def _router_make(plan):
    client, router = plan.client, plan.router
    _namespace_make(client.namespace, SYSCTLS)
    _namespace_make(router.namespace, SYSCTLS + SYSCTLS_FORWARD + SYSCTLS_ROUTER)
    _ip_batch(
        client.namespace,
        [
            f"link add eth0 type veth peer name eth0 netns {router.namespace}",
            *_address_lines("eth0", client.ipv4, client.ipv6),
        ],
    )
    _ip_batch(router.namespace, _address_lines("eth0", *plans.CLIENT_GATEWAY))
    _ip_batch(client.namespace, _default_lines(plans.CLIENT_GATEWAY))
    _offloads_off(client.namespace, ["eth0"])
    _offloads_off(router.namespace, ["eth0"])


def _port_make(plan, node):
    """The link between a node's eth1 and the bridge; the bridge's end has the node's name."""
    _ip_batch(
        node.namespace,
        [
            f"link add eth1 type veth peer name {node.name} netns {plan.fabric}",
            *_address_lines("eth1", node.ipv4, node.ipv6),
        ],
    )
    _ip_batch(plan.fabric, [f"link set {node.name} master br0", f"link set {node.name} up"])
    _offloads_off(node.namespace, ["eth1"])


def _balancer_routes(node):
    _ip_batch(
        node.namespace,
        [
            *_default_lines(plans.FABRIC_GATEWAY),
            *(f"route add blackhole {routed}" for routed in plans.ROUTED),
        ],
    )


def _service_lines(addresses):
    """A whole prefix as service address becomes a local route: the node owns all of it."""
    for address in addresses:
        length = 128 if ":" in address else 32
        if "/" in address and not address.endswith(f"/{length}"):
            yield f"route add local {address} dev lo"
        else:
            address = address.split("/")[0]
            yield f"addr add {address}/{length} dev lo{' nodad' if ':' in address else ''}"


def build(plan, services, pass_object):
    """Makes everything; services are the addresses that backends own, pass_object is pass.bpf.o."""
    _router_make(plan)
    _namespace_make(plan.fabric, SYSCTLS)
    _ip_batch(
        plan.fabric,
        ["link add br0 type bridge stp_state 0 forward_delay 0 mcast_snooping 0", "link set br0 up"],
    )
    _port_make(plan, plan.router)
    for node in plan.lbs:
        _namespace_make(node.namespace, SYSCTLS + SYSCTLS_FORWARD)
        _port_make(plan, node)
        _balancer_routes(node)
    for node in plan.bs:
        _namespace_make(node.namespace, SYSCTLS + SYSCTLS_BACKEND)
        _port_make(plan, node)
        _ip_batch(node.namespace, [*_default_lines(plans.FABRIC_GATEWAY), *_service_lines(services)])
    _offloads_off(plan.fabric, ["router", *(node.name for node in plan.lbs + plan.bs)])
    for node in plan.lbs:
        _ip_batch(plan.fabric, [f"link set dev {node.name} xdpdrv obj {pass_object} sec xdp.frags"])
    _ip_batch(
        plan.router.namespace,
        [
            _multipath_lines(plans.ROUTED[0], [node.ipv4 for node in plan.lbs], "eth1"),
            _multipath_lines(plans.ROUTED[1], [node.ipv6 for node in plan.lbs], "eth1"),
        ],
    )


def namespaces_present(prefix):
    lines = run(["ip", "netns", "list"]).splitlines()
    names = [line.split()[0] for line in lines if line.strip()]
    return [name for name in names if plans.namespace_of(prefix, name)]


def _pids(namespace):
    return [int(pid) for pid in run(["ip", "netns", "pids", namespace]).split()]


def processes_end(namespaces, patience=5.0):
    """Ends what runs in these namespaces: asks, waits, insists. Never the caller itself."""
    deadline = time.monotonic() + patience
    asked = set()
    while True:
        alive = {pid for name in namespaces for pid in _pids(name)} - {os.getpid()}
        if not alive:
            return
        insist = time.monotonic() > deadline
        if insist and time.monotonic() > deadline + patience:
            raise LabError(f"processes {sorted(alive)} do not end")
        for pid in alive if insist else alive - asked:
            try:
                os.kill(pid, signal.SIGKILL if insist else signal.SIGTERM)
            except ProcessLookupError:
                pass
        asked |= alive
        time.sleep(0.05)


def remove(prefix):
    """Removes the lab's namespaces and all that runs in them; returns how many there were."""
    present = namespaces_present(prefix)
    processes_end(present)
    for name in present:
        run(["ip", "netns", "del", name])
    return len(present)
