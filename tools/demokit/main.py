# SPDX-License-Identifier: BSD-2-Clause
"""Shows the balancer at work, on one machine, and judges what it saw."""

import argparse
import os
import signal
import subprocess
import sys

TOOLS = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
ROOT = os.path.dirname(TOOLS)

DESCRIPTION = """\
Installs what is missing, builds, makes a lab of network namespaces and serves real HTTP through an IPv4
and an IPv6 service address to three backends. Kills one backend in mid-traffic, shows the balancer
notice, brings the backend back, and ends with a summary. Exit status 0 only if everything was as it
should be. Without --path both paths are shown. Everything it made is removed, on Ctrl-C too.
"""


def arguments():
    parser = argparse.ArgumentParser(
        prog="tools/demo", description=DESCRIPTION, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--path", choices=["dpdk", "xdp"], help="only this datapath")
    parser.add_argument("--seconds", type=int, default=30, help="how long each path plays, default %(default)s")
    args = parser.parse_args()
    if args.seconds < 10:
        parser.error("--seconds: at least 10, for the backend to die and return")
    if os.geteuid() != 0:
        parser.error("network namespaces need root")
    return args


def huge_pages_free(megabytes):
    """True when this many megabytes of huge pages are reserved and free."""
    values = {}
    with open("/proc/meminfo", encoding="ascii") as stream:
        for line in stream:
            name, value = line.split(":")
            values[name] = int(value.split()[0])
    return values.get("HugePages_Free", 0) * values.get("Hugepagesize", 0) >= megabytes * 1024


def path_show(path, build, seconds, screen):
    """One path from the lab's making to its removal; true when every rule was met."""
    from demokit import judge, show
    from labkit import config, lab as labs

    prefix = f"demo{os.getpid()}"
    options = labs.Options(
        prefix=prefix,
        port=config.Port(path),
        build=build,
        huge=path == "dpdk" and huge_pages_free(labs.MEMORY_MB),
    )
    screen.title(f"the lab, path {path}")
    try:
        lab = labs.Lab.up(options, screen.line)
        record = show.play(lab, screen, seconds)
    finally:
        # nothing may keep this from being done
        for signum in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(signum, signal.SIG_IGN)
        labs.down(prefix)
        signals_set()
        screen.line("the lab is removed")
    screen.title(f"summary, path {path}")
    screen.table(judge.summary_rows(record))
    verdicts = judge.verdicts(record)
    for good, text in verdicts:
        screen.verdict(good, text)
    return all(good for good, _ in verdicts)


def signals_set():
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for signum in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(signum, lambda number, frame: sys.exit(128 + number))


def main():
    args = arguments()
    build = os.path.abspath(os.environ.get("GUIDEWAY_BUILD") or f"{ROOT}/build")
    signals_set()
    sys.path[0] = TOOLS
    from demokit.build import prepare

    prepare(TOOLS, build)
    # Only now: PyYAML may have come with the packages.
    from demokit.screen import Screen
    from labkit.plan import LabError

    screen = Screen()
    results = {}
    for path in [args.path] if args.path else ["dpdk", "xdp"]:
        try:
            results[path] = path_show(path, build, args.seconds, screen)
        except LabError as problem:
            print(f"demo: path {path}: {problem}", file=sys.stderr, flush=True)
            results[path] = False
    print()
    for path, good in results.items():
        print(f"{path}: {'all as it should be' if good else 'NOT as it should be'}")
    return 0 if all(results.values()) else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        print("\ndemo: interrupted; everything is removed", file=sys.stderr)
        sys.exit(130)
    except subprocess.CalledProcessError as problem:
        print(f"demo: {problem}", file=sys.stderr)
        sys.exit(1)
