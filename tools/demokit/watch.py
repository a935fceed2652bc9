# SPDX-License-Identifier: BSD-2-Clause
"""Follows the balancer's packet counter while the scenes play."""

import threading
import time

from labkit import view
from labkit.plan import LabError


class RateWatch(threading.Thread):
    """Samples the balancer's packet counter each second: rates, packets per second."""

    def __init__(self, lab):
        super().__init__(daemon=True)
        self.lab = lab
        self.rates = []
        self.ended = threading.Event()

    def run(self):
        last = None
        while not self.ended.wait(1.0):
            try:
                now = (time.monotonic(), view.packets_sent(self.lab))
            except (LabError, OSError, ValueError):
                continue
            if last and now[0] > last[0]:
                self.rates.append((now[1] - last[1]) / (now[0] - last[0]))
            last = now

    def stop(self):
        self.ended.set()
        self.join(5)
