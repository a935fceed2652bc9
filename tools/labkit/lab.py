# SPDX-License-Identifier: BSD-2-Clause
"""A lab that stands: made, found again by its prefix, changed, removed.

Everything it leaves lies below /run/guideway-lab/PREFIX: state.json, one folder a node, and `bpf`, a bpf
file system of its own, so that pins of several labs never meet and go with one umount.
"""

import dataclasses
import json
import os
import shlex
import shutil
import signal
import subprocess
import time

from . import backend, config, network, plan as plans, process
from .plan import LabError, Plan

EAL_ARGS = ["--in-memory", "--no-pci", "--no-telemetry"]
MEMORY_MB = 256


class EndedAtOnce(LabError):
    """A program that ended before it served."""


@dataclasses.dataclass(frozen=True)
class Options:
    """What `tools/lab up` can be asked for."""

    prefix: str = plans.DEFAULT_PREFIX
    backends: int = 3
    balancers: int = 1
    port: config.Port = config.Port()
    config: str = ""
    build: str = "build"
    start: bool = True
    huge: bool = False
    decap_hook: str = "auto"


class Lab:
    """Use up() or load(); then node programs by start() and stop(), commands by command() or run()."""

    def __init__(self, options, pids=None):
        self.options = options
        self.plan = Plan(options.prefix, options.balancers, options.backends)
        self.dir = plans.run_dir(options.prefix)
        self.pids = pids or {}

    # --- coming and going

    @classmethod
    def up(cls, options, say=lambda text: None):
        """Makes the lab; what was half made is removed again when something fails."""
        lab = cls(options)
        if os.path.exists(lab.dir) or network.namespaces_present(options.prefix):
            raise LabError(
                f"a lab {options.prefix} is there already; tools/lab down --prefix {options.prefix}"
            )
        try:
            lab._build(say)
        except BaseException:
            down(options.prefix)
            raise
        return lab

    @classmethod
    def load(cls, prefix):
        """Finds a lab that some earlier command made."""
        plans.prefix_check(prefix)
        try:
            with open(f"{plans.run_dir(prefix)}/state.json", encoding="utf-8") as stream:
                state = json.load(stream)
        except FileNotFoundError:
            raise plans.MissingError(f"no lab {prefix} is up; tools/lab up --prefix {prefix}") from None
        options = dict(state["options"], port=config.Port(**state["options"]["port"]))
        return cls(Options(**options), state["pids"])

    def _build(self, say):
        options = self.options
        document = config.read(options.config) if options.config else None
        services = config.service_addresses(document) if document else plans.DEFAULT_SERVICE
        ports = config.service_tcp_ports(document) if document else [80]

        os.makedirs(f"{self.dir}/bpf")
        network.run(["mount", "-t", "bpf", f"guideway-lab-{options.prefix}", f"{self.dir}/bpf"])
        say(f"namespaces {' '.join(self.plan.namespaces)}")
        network.build(self.plan, services, f"{options.build}/bpf/pass.bpf.o")
        self._save()
        for node in self.plan.nodes:
            os.makedirs(self.bpf_dir(node))
        for node in self.plan.bs:
            self._decap_attach(node, document)
            backend.nginx_prepare(self.node_dir(node), node.name, ports)
            self.start(node.name, "nginx")
        for node in self.plan.lbs:
            self._config_write(node, document)
        if options.start:
            self.balancers_start(say)

    def _decap_attach(self, node, document):
        """Opens the backend to the balancers, and to nobody else."""
        command = ["guideway-decap", "attach", node.interface, "--hook", self.options.decap_hook]
        for balancer in self.plan.lbs:
            command += ["--from", balancer.ipv4, "--from", balancer.ipv6]
        for prefix in config.source_prefixes(document or {}):
            command += ["--from", prefix]
        command += ["--gue-port", str(config.gue_port(document or {}))]
        status, _, err = self.run(node.name, command)
        if status:
            raise LabError(f"{node.name}: {err.strip()}")

    def _config_write(self, node, document):
        os.makedirs(f"{self.node_dir(node)}/state")
        socket = self.control_socket(node)
        text = (
            config.fit(document, node, self.options.port, socket)
            if document
            else config.write(self.plan, node, self.options.port, socket)
        )
        with open(self.config_path(node), "w", encoding="utf-8") as stream:
            stream.write(text)

    def balancers_start(self, say=lambda text: None):
        for node in self.plan.lbs:
            if self.options.port.path == "dpdk":
                self.start(node.name, "dataplane")
            self.start(node.name, "control")
            say(f"{node.name} runs, path {self.options.port.path}")

    # --- paths

    def node_dir(self, node):
        return f"{self.dir}/{node.name}"

    def config_path(self, node):
        return f"{self.node_dir(node)}/config.yaml"

    def control_socket(self, node):
        return f"{self.node_dir(node)}/control.sock"

    def dataplane_socket(self, node):
        return f"{self.node_dir(node)}/dataplane.sock"

    def bpf_dir(self, node):
        """What the node sees as /sys/fs/bpf."""
        return f"{self.dir}/bpf/{node.name}"

    def pin_dir(self, node):
        """The control daemon's pins on a balancer."""
        return f"{self.bpf_dir(node)}/guideway"

    def log_path(self, node, program):
        return f"{self.node_dir(node)}/{'error' if program == 'nginx' else program}.log"

    # --- programs

    def start(self, name, program):
        """Starts nginx on a backend, control or dataplane on a balancer; returns when it serves."""
        node = self.plan.node(name)
        os.makedirs(self.node_dir(node), exist_ok=True)
        if self.pid(name, program):
            raise LabError(f"{program} runs on {name} already, pid {self.pid(name, program)}")
        starter = {"nginx": self._nginx, "control": self._control, "dataplane": self._dataplane}
        command, ready = starter[program](node)
        # As its unit does: a killed dataplane's XDP program goes a moment after the process.
        tries = 4 if program == "dataplane" else 1
        for left in reversed(range(tries)):
            try:
                return self._start_once(node, program, command, ready)
            except EndedAtOnce:
                if not left:
                    raise
                time.sleep(0.5)
        raise AssertionError("not reached")

    def _start_once(self, node, program, command, ready):
        log = self.log_path(node, program)
        argv, env = self.command(node.name, command)
        pid = process.spawn(argv, log, env)
        self.pids.setdefault(node.name, {})[program] = pid
        self._save()

        def settled():
            if not process.alive(pid):
                raise EndedAtOnce(f"{program} on {node.name} ended at once:\n{process.log_tail(log)}")
            return ready()

        try:
            process.wait_for(f"{program} on {node.name} to serve (log {log})", settled)
        except EndedAtOnce:
            raise
        except LabError as problem:
            raise LabError(f"{problem}\n{process.log_tail(log)}") from None
        return pid

    def _nginx(self, node):
        folder = self.node_dir(node)
        return ["nginx", "-p", folder, "-c", f"{folder}/nginx.conf"], lambda: self._listens(node, 80)

    def _listens(self, node, port):
        return network.netns_exec(node.namespace, ["ss", "-Hltn", f"sport = :{port}"]).strip()

    def _control(self, node):
        command = [
            process.program_find(self.options.build, "guideway-control"),
            *("-c", self.config_path(node)),
            *("--state-dir", f"{self.node_dir(node)}/state"),
            *("--pin-dir", self.pin_dir(node)),
            *("--dataplane-socket", self.dataplane_socket(node)),
        ]
        return command, lambda: self.run(node.name, ["guideway", "status", "--json"])[0] == 0

    def _dataplane(self, node):
        status, out, err = self.run(
            node.name, ["guideway", "dataplane-args", "--config", self.config_path(node)]
        )
        if status:
            raise LabError(f"guideway dataplane-args: {err.strip()}")
        args = shlex.split(out)
        own = args[: args.index("--")] if "--" in args else args
        eal = args[args.index("--") + 1 :] if "--" in args else []
        # What a killed one left would look like a new one that serves.
        if os.path.exists(self.dataplane_socket(node)):
            os.unlink(self.dataplane_socket(node))
        memory = ["-m", str(MEMORY_MB)] + ([] if self.options.huge else ["--no-huge"])
        command = [
            process.program_find(self.options.build, "guideway-dataplane"),
            *own,
            *("--socket", self.dataplane_socket(node)),
            *("--", *eal, *EAL_ARGS, *memory),
        ]
        return command, lambda: os.path.exists(self.dataplane_socket(node))

    def pid(self, name, program):
        """Pid of a running program of a node, else 0."""
        pid = self.pids.get(name, {}).get(program, 0)
        return pid if pid and process.alive(pid) else 0

    def stop(self, name, program, how=signal.SIGTERM):
        """Ends a program and waits for its end."""
        pid = self.pid(name, program)
        if not pid:
            raise LabError(f"{program} does not run on {name}")
        process.end(pid, how)
        del self.pids[name][program]
        self._save()

    # --- commands

    def environment(self, node):
        env = dict(os.environ)
        env["PATH"] = ":".join([*process.program_dirs(self.options.build), env.get("PATH", "/usr/bin")])
        if node.is_balancer:
            env["GUIDEWAY_SOCKET"] = self.control_socket(node)
        return env

    def command(self, name, command):
        """The full command line and environment that run a command on a node."""
        node = self.plan.node(name)
        argv = process.inside(node.namespace, self.bpf_dir(node), command)
        return argv, self.environment(node)

    def run(self, name, command, timeout=60):
        """Runs a command on a node to its end: (exit status, standard output, standard error)."""
        argv, env = self.command(name, command)
        done = subprocess.run(
            argv, env=env, capture_output=True, text=True, timeout=timeout, check=False
        )
        return done.returncode, done.stdout, done.stderr

    def json(self, name, command):
        """Runs a command that prints JSON; LabError with its words when it fails."""
        status, out, err = self.run(name, [*command, "--json"])
        if status:
            raise LabError(f"{name}: {' '.join(command)}: exit {status}: {(err or out).strip()}")
        return json.loads(out)

    # --- state

    def _save(self):
        state = {"options": dataclasses.asdict(self.options), "pids": self.pids}
        with open(f"{self.dir}/state.json.new", "w", encoding="utf-8") as stream:
            json.dump(state, stream, indent=2)
        os.rename(f"{self.dir}/state.json.new", f"{self.dir}/state.json")

    def show(self):
        """The JSON of `lab show`."""
        return {
            "prefix": self.options.prefix,
            "path": self.options.port.path,
            "build": self.options.build,
            "nodes": [self._node_show(node) for node in self.plan.nodes],
        }

    def _node_show(self, node):
        pids = {name: self.pid(node.name, name) for name in self.pids.get(node.name, {})}
        shown = {
            "name": node.name,
            "namespace": node.namespace,
            "addresses": [node.ipv4, node.ipv6],
            "interface": node.interface,
            "pids": {name: pid for name, pid in pids.items() if pid},
        }
        if node.is_balancer:
            shown["config"] = self.config_path(node)
            shown["socket"] = self.control_socket(node)
            shown["pin_dir"] = self.pin_dir(node)
        return shown


def down(prefix):
    """Removes a lab, whole or half made; True when there was something to remove."""
    plans.prefix_check(prefix)
    folder = plans.run_dir(prefix)
    found = network.remove(prefix) > 0
    if os.path.ismount(f"{folder}/bpf"):
        network.run(["umount", f"{folder}/bpf"])
        found = True
    if os.path.isdir(folder):
        shutil.rmtree(folder)
        found = True
    try:
        os.rmdir(plans.RUN_ROOT)
    except OSError:
        pass
    return found
