# SPDX-License-Identifier: BSD-2-Clause
"""Reading what the metrics' listener serves, by an independent reading of the text format."""

import re
import subprocess

LISTEN = "127.0.0.1:9391"
SAMPLE = re.compile(r'^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$')
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\.)*)"(?:,|$)')


class Scrape:
    """Samples by name and labels."""

    def __init__(self, text):
        self.text = text
        self.types = dict(re.findall(r"^# TYPE (\S+) (\S+)$", text, re.M))
        self.samples = {}
        for line in text.splitlines():
            if line.startswith("#"):
                continue
            name, labels, value = SAMPLE.match(line).groups()
            key = (name, frozenset(LABEL.findall(labels or "")))
            assert key not in self.samples, f"twice: {line}"
            self.samples[key] = float(value)

    def value(self, name, **labels):
        return self.samples[(name, frozenset(labels.items()))]

    def has(self, name, **labels):
        return (name, frozenset(labels.items())) in self.samples

    def names(self):
        return {name for name, _ in self.samples}

    def counters(self):
        """Samples that may only rise."""
        return {
            key: value
            for key, value in self.samples.items()
            if self.types.get(re.sub("_(bucket|sum|count)$", "", key[0]), self.types.get(key[0]))
            in ("counter", "histogram")
        }


def fetch(lab, path="/metrics", *options):
    """The text that a balancer answers."""
    status, out, err = lab.run("lb1", ["curl", "-s", "-f", "--max-time", "10", *options, f"http://{LISTEN}{path}"])
    assert status == 0, f"curl: {status} {err}"
    return out


def scrape(lab):
    return Scrape(fetch(lab))


def promtool(*words, stdin=None):
    done = subprocess.run(["promtool", *words], input=stdin, capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, done.stdout + done.stderr
