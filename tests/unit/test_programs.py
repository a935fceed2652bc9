# SPDX-License-Identifier: BSD-2-Clause
"""What holds for every program that is installed."""

import os
import subprocess

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
BUILD = os.path.abspath(os.environ.get("GUIDEWAY_BUILD") or f"{ROOT}/build")
PROGRAMS = {
    "guideway": "tools",
    "guideway-bench": "tools/bench",
    "guideway-hash": "tools/hash",
    "guideway-decap": "tools/decap",
    "guideway-replay": "tools/replay",
    "guideway-control": "control",
    "guideway-dataplane": "dataplane",
}


def program(name):
    path = f"{BUILD}/{PROGRAMS[name]}/{name}"
    if not os.path.exists(path):
        pytest.skip(f"{name} is not part of this build")
    return path


def run(argv, **options):
    return subprocess.run(argv, stderr=subprocess.PIPE, text=True, timeout=60, check=False, **options)


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("option", ["--help", "--version"])
def test_output_that_cannot_be_written_is_a_failure(name, option):
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = run([program(name), option], stdout=full)
    assert done.returncode == 1
    assert "standard output" in done.stderr and done.stderr.startswith(f"{name}: ")


@pytest.mark.parametrize("name", PROGRAMS)
def test_help_and_version_go_to_standard_output(name):
    for option in ("--help", "--version"):
        done = run([program(name), option], stdout=subprocess.PIPE)
        assert (done.returncode, done.stderr) == (0, "")
        assert name in done.stdout
