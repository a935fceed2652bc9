# SPDX-License-Identifier: BSD-2-Clause
"""What can be told from the sources alone; each rule is one test."""

import os
import subprocess
import time

from .tally import Count

SPDX_SUFFIXES = (".c", ".h", ".py", ".sh", ".build")


def _git_names(root):
    """Names that git knows, None where this is no clone or git is not installed."""
    command = ["git", "-c", f"safe.directory={root}", "ls-files", "-co", "--exclude-standard"]
    try:
        done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return None
    return done.stdout.splitlines() if done.returncode == 0 else None


def sources(root):
    """Files of the tree, as git knows them; in an unpacked archive, all but build folders."""
    names = _git_names(root)
    if names is None:
        names = []
        for folder, subs, files in os.walk(root):
            subs[:] = [sub for sub in subs if not sub.startswith(("build", ".git", "__pycache__"))]
            names += [os.path.relpath(f"{folder}/{name}", root) for name in files]
    return sorted(name for name in names if os.path.isfile(f"{root}/{name}"))


def _head(root, name, size=300):
    with open(f"{root}/{name}", "rb") as stream:
        return stream.read(size)


def _first_line(root, name):
    return _head(root, name, 100).split(b"\n")[0].decode(errors="replace")


def _tool(root, command, names):
    if not names:
        return ""
    done = subprocess.run([*command, *names], cwd=root, capture_output=True, text=True, check=False)
    return (done.stdout + done.stderr or f"exit status {done.returncode}") if done.returncode else ""


def clang_format(root, names):
    return _tool(root, ["clang-format", "--dry-run", "-Werror"], [n for n in names if n.endswith((".c", ".h"))])


def shellcheck(root, names):
    scripts = [
        name
        for name in names
        if name.endswith(".sh") or _first_line(root, name) in ("#!/bin/sh", "#!/bin/bash", "#!/usr/bin/env bash")
    ]
    return _tool(root, ["shellcheck"], scripts)


def mandoc(root, names):
    pages = [n for n in names if n.startswith("docs/") and n.rpartition(".")[2] in ("1", "5", "7", "8")]
    # a page of ours refers to pages that are not installed yet
    return _tool(root, ["mandoc", "-T", "lint", "-W", "warning"], pages)


def spdx(root, names):
    """Sources and scripts say their licence near the top."""
    wanted = [n for n in names if n.endswith(SPDX_SUFFIXES) or _first_line(root, n).startswith("#!")]
    return "\n".join(n for n in wanted if b"SPDX-License-Identifier:" not in _head(root, n))


def python(root, names):
    """Every Python file compiles."""
    bad = []
    for name in names:
        if name.endswith(".py") or "python" in _first_line(root, name):
            try:
                with open(f"{root}/{name}", encoding="utf-8") as stream:
                    compile(stream.read(), name, "exec")
            except SyntaxError as problem:
                bad.append(f"{name}:{problem.lineno}: {problem.msg}")
    return "\n".join(bad)


RULES = {
    "clang_format_changes_nothing": clang_format,
    "shellcheck_is_quiet": shellcheck,
    "mandoc_is_quiet": mandoc,
    "files_name_their_licence": spdx,
    "python_compiles": python,
}


def run(root, tally):
    names = sources(root)
    for name, rule in RULES.items():
        begun = time.monotonic()
        try:
            problem = rule(root, names)
        except FileNotFoundError as missing:
            problem = str(missing)
        count = Count(passed=int(not problem), failed=int(bool(problem)))
        tally.add("lint", name, count, time.monotonic() - begun, problem)
