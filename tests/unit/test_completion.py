# SPDX-License-Identifier: BSD-2-Clause
"""The completions for bash, run by bash, against the commands and options that --help shows."""

import os
import re
import subprocess

import pytest

from test_programs import program


def shell(script, **env):
    return subprocess.run(
        ["bash", "--norc", "-c", script],
        env={"PATH": f"{os.path.dirname(program('guideway'))}:/usr/bin:/bin", **env},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    ).stdout


PRINTS = {"guideway": "completion", "guideway-bench": "--completion"}


def complete(line, folder=None):
    """What bash would offer at the end of the line."""
    words = re.sub("(?<=[^ ])=", " = ", line).split(" ")  # bash takes = for a word of its own
    array = " ".join(f"'{word}'" for word in words)
    path = f"{folder}:" if folder else ""
    function = "_" + words[0].replace("-", "_")
    return shell(
        f"""PATH={path}$PATH; source <({program(words[0])} {PRINTS[words[0]]})
        COMP_WORDS=({array}); COMP_CWORD={len(words) - 1}; {function}; printf '%s\\n' "${{COMPREPLY[@]}}" """
    ).split()


def commands():
    text = subprocess.run([program("guideway"), "--help"], capture_output=True, text=True, check=True).stdout
    names = set()
    for line in re.findall(r"^  guideway (.*)$", text, re.M):
        names.add(tuple(word for word in line.split() if re.fullmatch("[a-z-]+", word) and word != "-"))
    return names


@pytest.mark.parametrize("name", PRINTS)
def test_the_script_is_good_for_shellcheck(tmp_path, name):
    script = tmp_path / "completion"
    script.write_text(subprocess.run([program(name), PRINTS[name]], capture_output=True, text=True, check=True).stdout)
    done = subprocess.run(["shellcheck", "-s", "bash", str(script)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("name", PRINTS)
def test_another_shells_name_is_refused(name):
    done = subprocess.run([program(name), PRINTS[name], "zsh"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "zsh" in done.stderr
    assert not done.stdout


def test_every_command_is_offered():
    first = complete("guideway ")
    groups = {}
    for words in commands():
        assert words[0] in first
        if len(words) > 1:
            groups.setdefault(words[0], set()).add(words[1])
    assert len(groups) > 5
    for group, verbs in groups.items():
        assert set(complete(f"guideway {group} ")) == verbs


@pytest.mark.parametrize(
    "line, has, not_has",
    [
        ("guideway ba", {"backend"}, {"status"}),
        ("guideway backend dr", {"drain"}, {"list"}),
        ("guideway backend drain --", {"--wait", "--until-flows", "--reason", "--help"}, {"--full"}),
        ("guideway table show web --", {"--full", "--json"}, {"--follow"}),
        ("guideway --socket /x backend li", {"list"}, set()),
        ("guideway drops --", {"--watch"}, {"--wait"}),
        ("guideway-bench --path ", {"dpdk", "xdp", "both"}, {"cpu"}),
        ("guideway-bench --mode=l", {"link"}, {"cpu"}),
        ("guideway-bench --encap ipip,g", {"ipip,gue", "ipip,gre"}, {"ipip,l2", "gue"}),
        ("guideway-bench --size ", {"64", "imix"}, set()),
        ("guideway-bench --sweep flows,", {"flows,swaps"}, {"swaps"}),
        ("guideway-bench --json --", {"--svg"}, set()),
    ],
)
def test_what_is_offered(line, has, not_has):
    offered = set(complete(line))
    assert has <= offered
    assert not not_has & offered


@pytest.mark.parametrize("line", ["--flows ", "--cpu ", "--gen ", "--path dpdk -- --fi"])
def test_nothing_is_offered_where_the_program_cannot_know(line):
    assert complete(f"guideway-bench {line}") == []


def test_every_option_of_guideway_bench_is_offered():
    text = subprocess.run([program("guideway-bench"), "--help"], capture_output=True, text=True, check=True).stdout
    told = set(re.findall(r"^  (?:-., )?(--[a-z-]+)", text, re.M))
    assert len(told) > 30
    assert set(complete("guideway-bench --")) == told


def test_every_sweep_of_guideway_bench_is_offered():
    text = subprocess.run([program("guideway-bench"), "--sweep", "?"], capture_output=True, text=True, check=False).stderr
    assert set(complete("guideway-bench --sweep ")) == set(text.split("one of ")[1].split(";")[0].split(", "))


def test_files_are_offered_where_a_file_is_wanted(tmp_path):
    (tmp_path / "some.yaml").write_text("")
    assert complete(f"guideway config plan {tmp_path}/so") == [f"{tmp_path}/some.yaml"]
    assert complete(f"guideway lookup --config {tmp_path}/so") == [f"{tmp_path}/some.yaml"]
    assert complete(f"guideway-bench --json {tmp_path}/so") == [f"{tmp_path}/some.yaml"]
    assert complete(f"guideway-bench --svg {tmp_path}/so") == [f"{tmp_path}/some.yaml"]


def test_names_come_from_the_daemon(tmp_path):
    fake = tmp_path / "guideway"
    fake.write_text(
        """#!/bin/sh
        echo '[
  {
    "pool": "web",
    "name": "b1",
    "state": "active"
  }
]'
"""
    )
    fake.chmod(0o755)
    assert set(complete("guideway backend drain ", tmp_path)) == {"web/b1", "b1"}
    assert complete("guideway backend drain web/b1 ", tmp_path) == []
    assert complete("guideway table show ", tmp_path) == ["web"]
