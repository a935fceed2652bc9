# SPDX-License-Identifier: BSD-2-Clause
"""Installs what is missing, builds, runs the tests, ends with "N passed, N failed"."""

import argparse
import os
import subprocess
import sys

TOOLS = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
ROOT = os.path.dirname(TOOLS)
sys.path[0] = TOOLS

from checkkit import builds, lint, suites  # noqa: E402
from checkkit.tally import Tally  # noqa: E402

SUITES = ["unit", "golden", "e2e", "fuzz", "bench"]
DESCRIPTION = """\
Installs what is missing (tools/setup), builds into build-check, and runs
  unit    rules on the sources, module tests, module tests under address and undefined sanitizers
  golden  packets through both datapaths
  e2e     the daemons in network namespaces, with real servers
  fuzz    the fuzzers, for a short while
  bench   that the measuring tools measure
Without a suite: all of them. --full adds clang, a build without DPDK and more time for the fuzzers.
The last line is "N passed, N failed"; exit status 0 only if something ran and nothing failed.
"""


def arguments():
    parser = argparse.ArgumentParser(
        prog="tools/check", description=DESCRIPTION, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("suites", nargs="*", metavar="unit|golden|e2e|fuzz|bench")
    parser.add_argument("--full", action="store_true", help="take longer, test more")
    args = parser.parse_args()
    for name in args.suites:
        if name not in SUITES:
            parser.error(f"no suite {name!r}; there are {', '.join(SUITES)}")
    return args


def unit_run(main, full, tally):
    lint.run(ROOT, tally)
    suites.meson_run(main, "unit", tally)
    suites.pytest_run(ROOT, main, "unit", tally, full)
    others = [(builds.SANITIZED, "asan")] + ([(builds.CLANG, "clang")] if full else [])
    for build, label in others:
        folder = builds.make(build, ROOT, tally)
        if folder:
            suites.meson_run(folder, "unit", tally, label)
    if full:
        builds.make(builds.WITHOUT_DPDK, ROOT, tally)


def fuzz_run(full, tally):
    if not os.path.isdir(f"{ROOT}/tests/fuzz"):
        return
    folder = builds.make(builds.FUZZ, ROOT, tally)
    if folder:
        os.environ["GUIDEWAY_FUZZ_SECONDS"] = "120" if full else "10"
        suites.meson_run(folder, "fuzz", tally)


def main():
    args = arguments()
    tally = Tally()
    wanted = args.suites or SUITES
    if subprocess.run([f"{TOOLS}/setup", "--test"], stdin=subprocess.DEVNULL, check=False).returncode:
        print("check: tools/setup failed", file=sys.stderr)
        return 1
    folder = builds.make(builds.MAIN, ROOT, tally)
    if not folder:
        return tally.finish()
    for suite in wanted:
        tally.step(suite)
        if suite == "unit":
            unit_run(folder, args.full, tally)
        elif suite == "fuzz":
            fuzz_run(args.full, tally)
        else:
            suites.meson_run(folder, suite, tally)
            suites.pytest_run(ROOT, folder, suite, tally, args.full)
    return tally.finish()


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
