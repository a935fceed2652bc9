# SPDX-License-Identifier: BSD-2-Clause
"""Counts of passed, failed and skipped tests, printed as they come in and summed at the end."""

import dataclasses
import sys
import time


@dataclasses.dataclass
class Count:
    passed: int = 0
    failed: int = 0
    skipped: int = 0

    @property
    def total(self):
        return self.passed + self.failed + self.skipped

    def text(self):
        skipped = f", {self.skipped} skipped" if self.skipped else ""
        return f"{self.passed} passed, {self.failed} failed{skipped}"


class Tally:
    """Where every suite reports. One line a program; the end of its output where it failed."""

    def __init__(self):
        self.sum = Count()
        self.failures = []
        self.begun = time.monotonic()

    def say(self, text):
        print(text, flush=True)

    def step(self, text):
        self.say(f"[{time.monotonic() - self.begun:5.0f} s] {text}")

    def add(self, suite, name, count, seconds, output=""):
        """Takes one program's counts; its output is shown only when something failed."""
        self.sum.passed += count.passed
        self.sum.failed += count.failed
        self.sum.skipped += count.skipped
        self.say(f"  {suite:7} {name:34} {count.text()} ({seconds:.1f} s)")
        if count.failed:
            self.failures.append(f"{suite} {name}")
            for line in output.rstrip().splitlines()[-60:]:
                self.say(f"    | {line}")

    def finish(self):
        """Prints the last line and returns the exit status."""
        if self.failures:
            self.say(f"failed: {', '.join(self.failures)}")
        if not self.sum.passed and not self.sum.failed:
            self.say("nothing ran")
        self.say(self.sum.text())
        sys.stdout.flush()
        return 0 if self.sum.passed and not self.sum.failed else 1
