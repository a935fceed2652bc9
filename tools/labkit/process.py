# SPDX-License-Identifier: BSD-2-Clause
"""Programs in namespaces: found in the build, started apart from their starter, ended by pid."""

import glob
import os
import signal
import subprocess
import time

from .plan import LabError


def program_find(build, name):
    """Path of a built program, wherever below the build folder it lies."""
    for pattern in (name, f"*/{name}", f"*/*/{name}"):
        for path in sorted(glob.glob(f"{build}/{pattern}")):
            if os.path.isfile(path) and os.access(path, os.X_OK):
                return path
    raise LabError(f"{name} is not in {build}; build it (meson setup {build} && ninja -C {build})")


def program_dirs(build):
    """The folders that hold programs, for PATH."""
    names = ("guideway", "guideway-control", "guideway-dataplane", "guideway-decap", "guideway-replay")
    found = []
    for name in names:
        try:
            folder = os.path.dirname(program_find(build, name))
        except LabError:
            continue
        if folder not in found:
            found.append(folder)
    return found


def inside(namespace, pins, command):
    """The command line that runs a command in a namespace.

    `ip netns exec` mounts a fresh /sys, without the bpf file system that programs look for in it: the
    node's own folder of pins takes that place.
    """
    script = 'mount --bind "$0" /sys/fs/bpf && exec "$@"'
    return ["ip", "netns", "exec", namespace, "sh", "-c", script, pins, *command]


def spawn(command, log, env=None):
    """Starts a program, detached, its words appended to `log`. Returns its pid."""
    with open(log, "ab") as stream, open(os.devnull, "rb") as nothing:
        child = subprocess.Popen(
            command,
            stdin=nothing,
            stdout=stream,
            stderr=stream,
            start_new_session=True,
            env=env,
        )
    return child.pid


def alive(pid):
    """True while the process runs; one that has ended but was not waited for does not count.

    The first thread may have ended before the others, which still hold what is open.
    """
    try:
        os.waitpid(pid, os.WNOHANG)
    except ChildProcessError:
        pass
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as stream:
            ended = stream.read().rpartition(")")[2].split()[0] in ("Z", "X")
        return not ended or len(os.listdir(f"/proc/{pid}/task")) > 1
    except (FileNotFoundError, ProcessLookupError):
        return False


def end(pid, how=signal.SIGTERM, patience=20.0):
    """Signals a process and waits until it is gone; insists after `patience` seconds."""
    deadline = time.monotonic() + patience
    try:
        os.kill(pid, how)
    except ProcessLookupError:
        return
    while alive(pid):
        if time.monotonic() > deadline:
            os.kill(pid, signal.SIGKILL)
            deadline = time.monotonic() + patience
        time.sleep(0.01)


# Longer than anything that comes at all takes on the slowest machine.
PATIENCE = 60.0


def wait_for(what, check, patience=PATIENCE, interval=0.05):
    """Calls check() until it is true; LabError with what was waited for after `patience` seconds."""
    deadline = time.monotonic() + patience
    while True:
        result = check()
        if result:
            return result
        if time.monotonic() > deadline:
            raise LabError(f"waited {patience:g} s for {what}")
        time.sleep(interval)


def log_tail(path, lines=15):
    """The end of a log, for a message about a program that did not start."""
    try:
        with open(path, encoding="utf-8", errors="replace") as stream:
            return "".join(stream.readlines()[-lines:]).rstrip()
    except OSError:
        return ""
