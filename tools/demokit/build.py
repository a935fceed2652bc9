# SPDX-License-Identifier: BSD-2-Clause
"""Packages and build for the demo, by their own tools, and how far the build is."""

import collections
import os
import re
import subprocess
import sys
import time

SHOWN_LINES = 60  # of a build that failed
STEP_SECONDS = 10  # between two lines of progress, where lines cannot be written over


class Progress:
    """Where ninja is: one line that changes on a terminal, else one each few seconds."""

    def __init__(self, stream=None, step_seconds=STEP_SECONDS):
        self.stream = stream or sys.stdout
        self.over = self.stream.isatty()
        self.step_seconds = step_seconds
        self.told = time.monotonic()

    def show(self, done, of):
        if self.over:
            self.stream.write(f"\r\033[Kdemo: built {done} of {of}")
        elif time.monotonic() - self.told >= self.step_seconds:
            self.told = time.monotonic()
            self.stream.write(f"demo: built {done} of {of}\n")
        self.stream.flush()

    def clear(self):
        if self.over:
            self.stream.write("\r\033[K")
            self.stream.flush()


def run(command, progress, cwd=None):
    """A build tool's exit status and the last lines that it wrote."""
    lines = collections.deque(maxlen=SHOWN_LINES)
    env = dict(os.environ, NINJA_STATUS="[%f/%t] ")
    with subprocess.Popen(
        command, cwd=cwd, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        try:
            for line in process.stdout:
                lines.append(line)
                step = re.match(r"\[(\d+)/(\d+)\] ", line)
                if step:
                    progress.show(int(step.group(1)), int(step.group(2)))
        except BaseException:  # a signal: what it started ends as well
            process.terminate()
            raise
        finally:
            progress.clear()
    return process.returncode, "".join(lines)


def make(command, what, progress, cwd=None):
    """Runs it; ends the program, with the tool's last words, when it failed."""
    status, last = run(command, progress, cwd)
    if status:
        print(last, file=sys.stderr, end="")
        raise SystemExit(f"demo: {what} failed")


def prepare(tools, build):
    subprocess.run([f"{tools}/setup", "--run", "--no-mount"], check=True, stdin=subprocess.DEVNULL)
    progress = Progress()
    if not os.path.exists(f"{build}/build.ninja"):
        print(f"demo: configuring {build}", flush=True)
        make(["meson", "setup", build], "meson setup", progress, cwd=os.path.dirname(tools))
    print(f"demo: building in {build}", flush=True)
    make(["ninja", "-C", build], "the build", progress)
