# SPDX-License-Identifier: BSD-2-Clause
"""`guideway top` on a real pseudo-terminal, its screen read back through a terminal emulator."""

import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time

import pyte
import pytest
from labkit import process, traffic, view
from labkit.plan import DEFAULT_SERVICE

import paths


@pytest.fixture(scope="module", params=paths.BOTH)
def lab(request, make_module_lab):
    made = make_module_lab(**request.param, backends=3)
    view.wait_all_up(made)
    return made


@pytest.fixture(scope="module")
def flows(lab):
    running = traffic.Traffic(lab, DEFAULT_SERVICE, rate=100, keep=4)
    process.wait_for("traffic", lambda: len(running.requests()) > 50)
    yield running
    running.stop()


class Terminal:
    """A program on a terminal of so many rows and columns."""

    def __init__(self, argv, env, rows=24, columns=80):
        self.screen = pyte.Screen(columns, rows)
        self.stream = pyte.ByteStream(self.screen)
        self.pid, self.fd = pty.fork()
        if not self.pid:
            try:
                os.execvpe(argv[0], argv, dict(env, TERM="linux", LANG="C.UTF-8"))
            finally:
                os._exit(127)
        self.size(rows, columns)

    def size(self, rows, columns):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.screen.resize(rows, columns)

    def read(self, seconds=0.05):
        while select.select([self.fd], [], [], seconds)[0]:
            try:
                data = os.read(self.fd, 65536)
            except OSError:
                return
            if not data:
                return
            self.stream.feed(data)

    def lines(self):
        self.read()
        return [line.rstrip() for line in self.screen.display]

    def text(self):
        return "\n".join(self.lines())

    def press(self, keys):
        os.write(self.fd, keys.encode())

    def wait(self, what, check, patience=process.PATIENCE):
        try:
            process.wait_for(what, lambda: check(self.text()), patience)
        except Exception as problem:
            raise AssertionError(f"{problem}; the screen:\n{self.text()}") from None

    def end(self):
        """The exit status; kills what does not end."""
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            self.read(0.01)
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                os.close(self.fd)
                return os.waitstatus_to_exitcode(status)
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.fd)
        return None


@pytest.fixture
def top(lab):
    """A function that starts top with options on a terminal."""
    made = []

    def start(*options, **size):
        argv, env = lab.command("lb1", ["guideway", "top", *options])
        made.append(Terminal(argv, env, **size))
        return made[-1]

    yield start
    for terminal in made:
        try:
            os.kill(terminal.pid, signal.SIGKILL)
            os.waitpid(terminal.pid, 0)
        except (ProcessLookupError, ChildProcessError):
            pass


def rate_in(text):
    found = re.search(r"([\d.]+)(k?) pps in", text)
    return float(found.group(1)) * (1000 if found.group(2) else 1) if found else 0


def test_it_shows_services_backends_and_rates_at_80x24(top, flows):
    screen = top("--interval", "300ms")
    screen.wait("rates", lambda text: rate_in(text) > 20)
    lines = screen.lines()
    assert lines[0].startswith("guideway lb1")
    text = "\n".join(lines)
    assert "hit rate" in text and "SERVICE" in text and "BACKEND" in text and "DROPS" in text
    rows = {line.split()[0]: line.split() for line in lines if line.startswith("web/")}
    assert sorted(rows) == ["web/b1", "web/b2", "web/b3"]
    for row in rows.values():
        assert row[1:4] == ["active", "up", "33.3%"]
    assert abs(sum(float(row[4].rstrip("%")) for row in rows.values()) - 100) < 1
    assert "q quit" in lines[23]
    screen.press("q")
    assert screen.end() == 0


def test_a_backend_that_goes_is_seen(lab, top, flows):
    screen = top("--interval", "200ms")
    screen.wait("three backends", lambda text: len(re.findall(r"^web/b\d\s+active", text, re.M)) == 3)
    assert lab.run("lb1", ["guideway", "backend", "drain", "b2"])[0] == 0
    try:
        screen.wait("the drain", lambda text: re.search(r"^web/b2\s+drain\w*\s+up\s+0\.0%", text, re.M))
    finally:
        assert lab.run("lb1", ["guideway", "override", "clear", "--all"])[0] == 0
    screen.press("q")
    assert screen.end() == 0


def test_keys_sort_pause_scroll_and_a_new_size(top, flows):
    screen = top("--interval", "200ms", rows=10, columns=80)
    screen.wait("the first screen", lambda text: "SERVICE" in text and "by name" in text)
    screen.press("s")
    screen.wait("another order", lambda text: "by pps" in text)
    assert "DROPS" not in screen.text()
    screen.press("G")
    screen.wait("the end", lambda text: "DROPS" in text and "SERVICE" not in text)
    screen.press("g")
    screen.wait("the beginning", lambda text: "SERVICE" in text)
    screen.press("\t")
    screen.wait("the next part", lambda text: text.split("\n")[3].startswith(("SERVICE", "BACKEND")))
    screen.press("\x1b[A" * 30)  # the cursor key, often
    screen.wait("the beginning again", lambda text: "SERVICE" in text)
    screen.press("p")
    screen.wait("a pause", lambda text: "paused" in text)
    screen.press("p")
    screen.size(40, 120)
    screen.wait("the larger screen", lambda text: "DROPS" in text and "q quit" in text.split("\n")[39])
    screen.size(3, 20)  # too small for anything, and no reason to die
    screen.read(0.5)
    screen.size(24, 80)
    screen.wait("the usual size", lambda text: "BACKEND" in text and "q quit" in text.split("\n")[23])
    screen.press("q")
    assert screen.end() == 0


def test_a_daemon_that_is_away_is_said_and_comes_back(lab, top, flows):
    screen = top("--interval", "200ms")
    screen.wait("rates", lambda text: rate_in(text) > 20)
    lab.stop("lb1", "control")
    screen.wait("what is wrong", lambda text: "no answer from guideway-control" in text)
    lab.start("lb1", "control")
    screen.wait("rates again", lambda text: rate_in(text) > 20 and "no answer" not in text, 20)
    screen.press("q")
    assert screen.end() == 0


def test_without_a_terminal_there_is_one_look_as_text(lab, flows):
    argv, env = lab.command("lb1", ["guideway", "top", "--interval", "500ms"])
    done = subprocess.run(argv, env=env, capture_output=True, text=True, timeout=30, check=True)
    assert "\x1b" not in done.stdout
    assert rate_in(done.stdout) > 20
    assert max(len(line) for line in done.stdout.splitlines() if not line.startswith("!")) <= 80
    assert ("WORKER" in done.stdout) == (lab.options.port.path == "dpdk")


def test_json_has_the_rates(lab, flows):
    argv, env = lab.command("lb1", ["guideway", "top", "--json", "--interval", "1s"])
    rates = json.loads(subprocess.run(argv, env=env, capture_output=True, text=True, timeout=30, check=True).stdout)
    assert abs(rates["seconds"] - 1) < 1
    # A hundred requests a second, of some five packets towards the server each.
    assert 100 < rates["rx_pps"] < 3000
    assert abs(sum(one["pps"] for one in rates["backends"]) - rates["tx_pps"]) < rates["tx_pps"] / 3
    assert 0.3 < rates["hit_rate"] < 1
    assert abs(sum(one["got"] for one in rates["backends"]) - 1) < 0.01
