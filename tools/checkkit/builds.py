# SPDX-License-Identifier: BSD-2-Clause
"""Build folders: one a compiler and a set of options, kept between runs, made anew when meson asks so."""

import dataclasses
import os
import subprocess

from .tally import Count


@dataclasses.dataclass(frozen=True)
class Build:
    """A build folder, named build-check[-SUFFIX]."""

    suffix: str = ""
    compiler: str = "gcc"
    options: tuple = ()
    targets: tuple = ()  # of ninja; none: everything

    def folder(self, root):
        return f"{root}/build-check{'-' + self.suffix if self.suffix else ''}"


MAIN = Build()
CLANG = Build("clang", "clang")
SANITIZED = Build("asan", "gcc", ("-Db_sanitize=address,undefined", "-Db_lundef=false"))
WITHOUT_DPDK = Build("nodpdk", "gcc", ("-Ddpdk=disabled",))
FUZZ = Build("fuzz", "clang", ("-Dfuzz=true", "-Db_lundef=false"), ("fuzzers",))


def _run(command, root, log, env):
    with open(log, "ab") as stream:
        return subprocess.run(
            command, cwd=root, stdin=subprocess.DEVNULL, stdout=stream, stderr=stream, env=env, check=False
        ).returncode


def _setup(build, root, log, env):
    folder = build.folder(root)
    if os.path.exists(f"{folder}/build.ninja"):
        return 0
    command = ["meson", "setup", folder, *build.options]
    if os.path.isdir(f"{folder}/meson-private"):
        command.insert(2, "--wipe")
    return _run(command, root, log, env)


def make(build, root, tally):
    """Builds; the folder, or None when it does not build, which counts as one failed test."""
    folder = build.folder(root)
    words = " ".join((build.compiler, *build.options))
    tally.step(f"building {os.path.basename(folder)} ({words})")
    os.makedirs(folder, exist_ok=True)
    log = f"{folder}/check-build.log"
    if os.path.exists(log):
        os.unlink(log)
    env = dict(os.environ, CC=build.compiler)
    status = _setup(build, root, log, env) or _run(["ninja", "-C", folder, *build.targets], root, log, env)
    if not status:
        return folder
    with open(log, encoding="utf-8", errors="replace") as stream:
        tally.add("build", os.path.basename(folder), Count(failed=1), 0, stream.read())
    return None
