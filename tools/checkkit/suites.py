# SPDX-License-Identifier: BSD-2-Clause
"""Runs test programs that meson lists and pytest folders, and reads how many tests passed.

A program of ours ends with "NAME: N passed, N failed[, N skipped]" (tests/unit/suite.c); one that does not
counts as a single test by its exit status. pytest's counts come from its JUnit file.
"""

import concurrent.futures
import functools
import json
import os
import re
import signal
import subprocess
import time
import xml.etree.ElementTree

from .tally import Count

LAST_LINE = re.compile(r"(\d+) passed, (\d+) failed(?:, (\d+) skipped)?\s*$")
PYTEST_SECONDS = 3600  # a net, not a promise: slow machines may take their time
JOBS = 3  # most tests wait more than they compute


def _run(command, cwd, env, seconds):
    """Runs to the end or the limit, ending the whole process group then: (status, output, seconds)."""
    begun = time.monotonic()
    child = subprocess.Popen(
        command,
        cwd=cwd,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        output = child.communicate(timeout=seconds)[0]
        status = child.returncode
    except BaseException as problem:
        os.killpg(child.pid, signal.SIGTERM)
        try:
            output = child.communicate(timeout=20)[0]
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            output = child.communicate()[0]
        if not isinstance(problem, subprocess.TimeoutExpired):
            raise
        output += f"\nended after {seconds} seconds\n".encode()
        status = -1
    return status, output.decode(errors="replace"), time.monotonic() - begun


def count_output(status, output):
    """What a program's last line says, held against its exit status. Status 77 is a skip."""
    lines = output.rstrip().splitlines()
    match = LAST_LINE.search(lines[-1]) if lines else None
    if not match:
        return Count(skipped=1) if status == 77 else Count(passed=int(status == 0), failed=int(status != 0))
    count = Count(*(int(number or 0) for number in match.groups()))
    if status and not count.failed:
        count.failed = 1
    return count


def meson_tests(folder, suite):
    """The tests of a suite as meson describes them."""
    text = subprocess.run(
        ["meson", "introspect", "--tests", folder], capture_output=True, text=True, check=True
    ).stdout
    return [test for test in json.loads(text) if f"guideway:{suite}" in test["suite"]]


@functools.cache
def _layout():
    """What to run test programs by where the kernel scatters addresses over more bits than Debian 12's
    sanitizers have room for (their shadow memory then finds its place taken, now and then)."""
    try:
        with open("/proc/sys/vm/mmap_rnd_bits", encoding="ascii") as stream:
            scattered = int(stream.read()) > 28
    except OSError:
        scattered = False
    fixed = ["setarch", "--addr-no-randomize"]
    return fixed if scattered and subprocess.run([*fixed, "true"], check=False).returncode == 0 else []


def _meson_test(test, folder, seconds):
    env = dict(os.environ, GUIDEWAY_BUILD=folder, **test["env"])
    # A sanitized program that goes on after a finding would pass.
    env.setdefault("UBSAN_OPTIONS", "halt_on_error=1:print_stacktrace=1")
    limit = seconds or test["timeout"] or 600
    return _run(_layout() + test["cmd"], test["workdir"] or folder, env, limit)


def meson_run(folder, suite, tally, label="", seconds=0):
    """Runs every test of a suite; how many programs there were.

    Those that meson may run side by side do; their counts are told in meson's order.
    """
    tests = meson_tests(folder, suite)
    tests.sort(key=lambda test: not test["is_parallel"])
    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        pending = [
            pool.submit(_meson_test, test, folder, seconds) if test["is_parallel"] else None
            for test in tests
        ]
        for test, future in zip(tests, pending):
            status, output, took = future.result() if future else _meson_test(test, folder, seconds)
            tally.add(label or suite, test["name"], count_output(status, output), took, output)
    return len(tests)


def junit_count(path):
    """Counts in a JUnit file; None when there is none to read."""
    try:
        root = xml.etree.ElementTree.parse(path).getroot()
    except (OSError, xml.etree.ElementTree.ParseError):
        return None
    count = Count()
    for suite in root.iter("testsuite"):
        bad = int(suite.get("failures", 0)) + int(suite.get("errors", 0))
        skipped = int(suite.get("skipped", 0))
        count.failed += bad
        count.skipped += skipped
        count.passed += max(0, int(suite.get("tests", 0)) - bad - skipped)
    return count


def junit_failed(path):
    """Names of the tests that failed, for a line that no long assertion pushes out of sight."""
    try:
        cases = xml.etree.ElementTree.parse(path).getroot().iter("testcase")
    except (OSError, xml.etree.ElementTree.ParseError):
        return []
    return [case.get("name") for case in cases if case.find("failure") is not None or case.find("error") is not None]


def pytest_run(root, folder, suite, tally, full=False):
    """Runs tests/SUITE by pytest, a file at a time so that a person sees progress; how many files.

    Some files run side by side: labs have names of their own, and mostly wait.
    """
    where = f"{root}/tests/{suite}"
    if not os.path.isdir(where):
        return 0
    names = sorted(name for name in os.listdir(where) if re.fullmatch(r"test_\w+\.py", name))
    env = dict(os.environ, GUIDEWAY_BUILD=folder, PYTHONDONTWRITEBYTECODE="1")
    if full:
        env["GUIDEWAY_CHECK_FULL"] = "1"
    deadline = time.monotonic() + PYTEST_SECONDS * (4 if full else 1)

    def run(name):
        report = f"{folder}/check-{suite}-{name}.xml"
        if os.path.exists(report):
            os.unlink(report)
        command = ["/usr/bin/python3", "-m", "pytest", "-q", "-p", "no:cacheprovider"]
        command += [f"--junitxml={report}", f"{where}/{name}"]
        status, output, took = _run(command, root, env, max(30, deadline - time.monotonic()))
        count = junit_count(report) or Count(failed=1)
        if status not in (0, 5) and not count.failed:
            count.failed = 1
        if count.failed:
            output = f"{output.rstrip()}\nfailed: {', '.join(junit_failed(report)) or f'status {status}'}"
        return count, took, output

    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        for name, result in zip(names, pool.map(run, names)):
            tally.add(suite, name, *result)
    return len(names)
