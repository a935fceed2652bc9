# SPDX-License-Identifier: BSD-2-Clause
"""The command around labkit: up, down, exec, show."""

import argparse
import json
import os
import signal
import sys

TOOLS = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
ROOT = os.path.dirname(TOOLS)
sys.path[0] = TOOLS

try:
    from labkit import config, lab as labs, plan as plans
except ImportError as missing:
    sys.exit(f"lab: {missing}; tools/setup installs it")

DESCRIPTION = """\
A load balancer's surroundings in network namespaces: PREFIX-client, PREFIX-router, PREFIX-lb1 ...,
PREFIX-b1 ... with nginx and the decapsulator on the backends. The services are 203.0.113.10 and
2001:db8:113::10, TCP port 80; every backend answers with its name.

  tools/lab up --path xdp --backends 3
  tools/lab exec client curl http://203.0.113.10/
  tools/lab exec lb1 guideway status
  tools/lab down
"""


def parser_make():
    parser = argparse.ArgumentParser(
        prog="tools/lab", description=DESCRIPTION, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument(
        "--prefix", default=plans.DEFAULT_PREFIX, help="name of the lab, default %(default)s"
    )
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="up|down|exec|show")

    up = verbs.add_parser("up", parents=[common], help="make the lab and start the balancers")
    up.add_argument("--path", choices=["dpdk", "xdp"], default="xdp", help="default %(default)s")
    up.add_argument("--backends", type=int, default=3, metavar="N", help="default %(default)s")
    up.add_argument("--balancers", type=int, default=1, metavar="N", help="default %(default)s")
    up.add_argument(
        "--config",
        default="",
        metavar="FILE",
        help="this file for every balancer, its node and interface entries replaced",
    )
    up.add_argument("--no-start", action="store_true", help="leave the balancers' daemons to you")
    up.add_argument(
        "--build",
        default=os.environ.get("GUIDEWAY_BUILD") or f"{ROOT}/build",
        metavar="DIR",
        help="build folder, default $GUIDEWAY_BUILD or build",
    )
    up.add_argument("--xdp-mode", choices=["auto", "native", "generic"], default="auto")
    up.add_argument(
        "--port-driver",
        choices=["af_xdp", "af_packet"],
        default="af_xdp",
        help="DPDK's port, default %(default)s",
    )
    up.add_argument("--huge", action="store_true", help="DPDK uses the huge pages that are reserved")
    up.add_argument(
        "--decap-hook",
        default="auto",
        metavar="HOOK",
        help="where backends decapsulate: auto, tcx, tc, xdp, xdp-generic",
    )

    verbs.add_parser("down", parents=[common], help="remove it and everything that runs in it")
    execute = verbs.add_parser("exec", parents=[common], help="run a command on a node")
    execute.add_argument("node")
    execute.add_argument("command", nargs=argparse.REMAINDER, metavar="CMD ...")
    show = verbs.add_parser("show", parents=[common], help="nodes, addresses, processes")
    show.add_argument("--json", action="store_true")
    return parser


def up_run(args):
    options = labs.Options(
        prefix=args.prefix,
        backends=args.backends,
        balancers=args.balancers,
        port=config.Port(args.path, args.xdp_mode, args.port_driver),
        config=os.path.abspath(args.config) if args.config else "",
        build=os.path.abspath(args.build),
        start=not args.no_start,
        huge=args.huge,
        decap_hook=args.decap_hook,
    )
    labs.Lab.up(options, lambda text: print(f"lab: {text}", flush=True))
    print(f"lab: {args.prefix} is up; tools/lab show --prefix {args.prefix}")
    return 0


def down_run(args):
    if not labs.down(args.prefix):
        print(f"lab: there is no lab {args.prefix}", file=sys.stderr)
        return 4
    return 0


def exec_run(args):
    if not args.command:
        print("lab: exec NODE needs a command", file=sys.stderr)
        return 2
    argv, env = labs.Lab.load(args.prefix).command(args.node, args.command)
    os.execvpe(argv[0], argv, env)


def show_run(args):
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # a reader that has enough is no fault
    shown = labs.Lab.load(args.prefix).show()
    if args.json:
        print(json.dumps(shown, indent=2))
        return 0
    print(f"lab {shown['prefix']}, path {shown['path']}, programs of {shown['build']}")
    for node in shown["nodes"]:
        pids = ", ".join(f"{name} {pid}" for name, pid in node["pids"].items())
        print(f"  {node['name']:8} {' '.join(node['addresses']):28} {node['interface']}  {pids}")
    return 0


def main():
    args = parser_make().parse_args()
    for signum in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(signum, lambda number, frame: sys.exit(128 + number))
    if os.geteuid() != 0:
        print("lab: namespaces need root", file=sys.stderr)
        return 1
    run = {"up": up_run, "down": down_run, "exec": exec_run, "show": show_run}[args.verb]
    try:
        return run(args)
    except plans.LabError as problem:
        print(f"lab: {problem}", file=sys.stderr)
        return problem.status
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
