# SPDX-License-Identifier: BSD-2-Clause
"""What a person sees: lines with the time since the start, colour on a terminal unless NO_COLOR is set."""

import os
import sys
import time


class Screen:
    """Progress lines and tables on standard output."""

    def __init__(self):
        self.begun = time.monotonic()
        self.coloured = sys.stdout.isatty() and not os.environ.get("NO_COLOR")

    def _paint(self, code, text):
        return f"\033[{code}m{text}\033[0m" if self.coloured else text

    def title(self, text):
        print(self._paint("1", f"\n== {text}"), flush=True)

    def line(self, text):
        print(f"{time.monotonic() - self.begun:6.1f} s  {text}", flush=True)

    def event(self, text):
        self.line(self._paint("33", text))

    def table(self, rows):
        """Rows of (name, value); the values line up."""
        width = max(len(name) for name, _ in rows)
        for name, value in rows:
            print(f"  {name:{width}}  {value}", flush=True)

    def verdict(self, good, text):
        mark = self._paint("32", "ok    ") if good else self._paint("31", "FAILED")
        print(f"  {mark} {text}", flush=True)
