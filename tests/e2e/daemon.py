# SPDX-License-Identifier: BSD-2-Clause
"""guideway-control alone: no lab, no datapath (path dpdk waits for one), its API on sockets in a folder."""

import contextlib
import itertools
import json
import os
import secrets
import signal
import socket
import subprocess

import yaml
from labkit import process

from conftest import BUILD

CONTROL = process.program_find(BUILD, "guideway-control")


ports = itertools.count(10000 + os.getpid() * 8 % 20000)


def port_free():
    """Below those that the kernel gives out, and not where another run of tests looks first."""
    while True:
        port = next(ports)
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


class Answer:
    """What curl got."""

    def __init__(self, raw):
        head, _, self.body = raw.partition("\r\n\r\n")
        while self.body.startswith("HTTP/1.1 "):  # after 100 Continue
            head, _, self.body = self.body.partition("\r\n\r\n")
        lines = head.split("\r\n")
        self.status = int(lines[0].split()[1])
        self.headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines[1:])}

    @property
    def json(self):
        return json.loads(self.body)


def curl(*words, stdin=None):
    done = subprocess.run(["curl", "-s", "-i", "--max-time", "60", *words], input=stdin, capture_output=True, timeout=90, check=False)
    assert done.returncode == 0, f"curl {words}: {done.returncode}"
    return Answer(done.stdout.decode())


class Daemon:
    """Started with a document, which `reload` may change; ended by `stop`."""

    def __init__(self, folder):
        self.folder = str(folder)
        self.port = port_free()
        self.metrics = port_free()
        self.tokens = {}
        self.child = None
        self.document = {
            "version": 1,
            "node": {"name": "lb1", "source_ipv4": "10.82.0.11"},
            "dataplane": {"path": "dpdk", "socket": f"{folder}/none.sock"},
            "state_dir": f"{folder}/state",
            "pools": [
                {"name": "web", "table_size": 251, "backends": [{"name": "b1", "address": "10.82.0.101"}, {"name": "b2", "address": "10.82.0.102"}]},
                {"name": "dns", "table_size": 251, "backends": [{"name": "b1", "address": "10.82.0.101"}]},
            ],
            "services": [{"name": "web", "addresses": ["203.0.113.10"], "protocol": "tcp", "ports": [80], "pool": "web"}],
            "api": {"unix": f"{folder}/control.sock", "read_only": {"unix": f"{folder}/read.sock", "group": "daemon"}},
            "metrics": {"listen": f"127.0.0.1:{self.metrics}"},
        }

    def token_make(self, name, **entry):
        """A token in a file of its own, as an entry for the configuration."""
        self.tokens[name] = secrets.token_hex(32)
        path = f"{self.folder}/{name}.token"
        with open(path, "w", encoding="utf-8") as stream:
            stream.write(self.tokens[name] + "\n")
        os.chmod(path, 0o600)
        return {"name": name, "file": path, **entry}

    def write(self):
        with open(f"{self.folder}/config.yaml", "w", encoding="utf-8") as stream:
            yaml.safe_dump(self.document, stream, sort_keys=False)

    def start(self):
        self.write()
        os.makedirs(f"{self.folder}/state", exist_ok=True)
        log = open(f"{self.folder}/log", "a", encoding="utf-8")  # pylint: disable=consider-using-with
        self.child = subprocess.Popen([CONTROL, "-c", f"{self.folder}/config.yaml"], stderr=log, stdout=log)  # pylint: disable=consider-using-with
        log.close()
        process.wait_for("the daemon", lambda: os.path.exists(f"{self.folder}/control.sock") and self.call("/v1/status").status == 200)

    def stop(self):
        if self.child:
            self.child.send_signal(signal.SIGTERM)
            assert self.child.wait(60) == 0, self.log()

    def log(self):
        with open(f"{self.folder}/log", encoding="utf-8") as stream:
            return stream.read()

    def call(self, path, body=None, *options, sock="control.sock"):
        """A request through a Unix socket; a dict is sent as JSON."""
        words = ["--unix-socket", f"{self.folder}/{sock}", *options]
        if body is not None:
            words += ["--data-binary", body if isinstance(body, str) else json.dumps(body)]
        return curl(*words, f"http://guideway{path}")

    def tcp(self, path, token=None, body=None, *options):
        """The same over TLS, with a token."""
        words = ["--cacert", f"{self.folder}/cert.pem", *options]
        if token:
            words += ["-H", f"Authorization: Bearer {self.tokens.get(token, token)}"]
        if body is not None:
            words += ["--data-binary", json.dumps(body)]
        return curl(*words, f"https://localhost:{self.port}{path}")

    def audits(self):
        return [one for one in self.call("/v1/events").json["events"] if one["kind"] == "audit"]
