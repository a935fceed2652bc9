# SPDX-License-Identifier: BSD-2-Clause
"""The balancers' configuration files: written for the lab, or taken from a person and fitted to it."""

import dataclasses

import yaml

from .plan import DEFAULT_SERVICE, LabError

WRITTEN = """\
# Written by tools/lab for {name}.
version: 1
node: {{name: {name}, source_ipv4: {ipv4}, source_ipv6: "{ipv6}"}}
dataplane:
  path: {path}
  interfaces: [{interface}]
  cpus: "1"
  flows: 262144
defaults:
  healthcheck: {{type: tcp, interval: 500ms, timeout: 400ms, rise: 2, fall: 3}}
pools:
  - name: web
    encap: ipip
    healthcheck: {{type: http, port: 80, path: /healthz, expect: 200-299, via: direct}}
    backends:
{backends}
services:
  - {{name: web, addresses: [{addresses}], protocol: tcp, ports: [80], pool: web}}
api: {{unix: {socket}}}
"""


@dataclasses.dataclass(frozen=True)
class Port:
    """How a balancer takes its packets: the path and what the configuration says of its interface."""

    path: str = "xdp"
    xdp_mode: str = "auto"
    driver: str = "af_xdp"

    def entry(self, interface):
        if self.path == "xdp":
            return {"name": interface, "mode": self.xdp_mode}
        if self.driver == "af_packet":
            return {"vdev": f"net_af_packet0,iface={interface}"}
        return {"name": interface}


def _flow(mapping):
    """A mapping of plain words as YAML's flow style, strings quoted where they need it."""
    return yaml.safe_dump(mapping, default_flow_style=True, width=10**6, sort_keys=False).strip()


def write(plan, node, port, socket):
    """The text of the file for a lab without --config."""
    backends = "\n".join(
        f"      - {{name: {backend.name}, address: {backend.ipv4}, weight: 1}}" for backend in plan.bs
    )
    return WRITTEN.format(
        name=node.name,
        ipv4=node.ipv4,
        ipv6=node.ipv6,
        path=port.path,
        interface=_flow(port.entry(node.interface)),
        backends=backends,
        addresses=", ".join(f'"{address}"' for address in DEFAULT_SERVICE),
        socket=socket,
    )


class _Verbatim(yaml.SafeLoader):  # pylint: disable=too-many-ancestors
    """Scalars stay the words they are: YAML 1.1 would make false of `off` and 605 of `10:05`."""

    yaml_implicit_resolvers = {
        first: [one for one in resolvers if one[0].endswith((":null", ":merge"))]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }


def read(path):
    """A person's file as it stands."""
    try:
        with open(path, encoding="utf-8") as stream:
            document = yaml.load(stream, Loader=_Verbatim)
    except (OSError, yaml.YAMLError) as problem:
        raise LabError(f"{path}: {problem}") from problem
    if not isinstance(document, dict):
        raise LabError(f"{path}: not a configuration: a mapping is expected at the top")
    return document


def fit(document, node, port, socket):
    """The text of a person's file with node, interfaces, path and socket of this balancer."""
    fitted = dict(document)
    fitted["node"] = dict(
        document.get("node") or {}, name=node.name, source_ipv4=node.ipv4, source_ipv6=node.ipv6
    )
    fitted["dataplane"] = dict(
        document.get("dataplane") or {}, path=port.path, interfaces=[port.entry(node.interface)]
    )
    fitted["api"] = dict(document.get("api") or {}, unix=socket)
    return yaml.safe_dump(fitted, sort_keys=False, width=100)


def service_addresses(document):
    """Every address of every service, each once, in the file's order."""
    addresses = []
    for service in document.get("services") or []:
        for address in (service or {}).get("addresses") or []:
            text = address if isinstance(address, str) else (address or {}).get("address")
            if text and text not in addresses:
                addresses.append(text)
    return addresses


def service_tcp_ports(document, limit=256):
    """The TCP ports that a backend's web server must listen on, at most `limit`; always 80."""
    ports = {80}
    for service in document.get("services") or []:
        if (service or {}).get("protocol") not in ("tcp", "any"):
            continue
        for port in service.get("ports") or []:
            first, _, last = str(port).partition("-")
            if first.isdigit() and (not last or last.isdigit()):
                ports.update(range(int(first), int(last or first) + 1))
    return sorted(ports)[:limit]


def source_prefixes(document):
    """What the outer source of pools with entropy lies in."""
    node = document.get("node") or {}
    return [node[key] for key in ("source_prefix_ipv4", "source_prefix_ipv6") if node.get(key)]


def gue_port(document):
    """The UDP port that backends listen on: one for all pools, the first that is given."""
    ports = [pool["gue_port"] for pool in document.get("pools") or [] if (pool or {}).get("gue_port")]
    return ports[0] if ports else 6080
