# SPDX-License-Identifier: BSD-2-Clause
"""What the demo shows of a build while it goes on, and of one that fails; by a real ninja."""

import io
import time

import pytest
from demokit import build

RULES = """\
rule note
  command = echo done > $out
rule fail
  command = echo this went wrong; exit 1
"""


class Terminal(io.StringIO):
    def isatty(self):
        return True


def ninja(folder, *lines):
    (folder / "build.ninja").write_text(RULES + "\n".join(lines) + "\n")
    return ["ninja", "-C", str(folder)]


def test_a_terminal_sees_one_line_that_counts_to_the_end_and_goes(tmp_path):
    terminal = Terminal()
    command = ninja(tmp_path, *(f"build {name}: note" for name in "abc"))
    assert build.run(command, build.Progress(terminal))[0] == 0
    shown = terminal.getvalue()
    assert "\n" not in shown
    assert shown.split("\r\033[K")[1:] == [f"demo: built {done} of 3" for done in (1, 2, 3)] + [""]


def test_a_file_gets_lines_and_not_more_often_than_the_step(tmp_path):
    often, seldom = io.StringIO(), io.StringIO()
    command = ninja(tmp_path, "build a: note", "build b: note a")
    build.run(command, build.Progress(often, 0))
    assert often.getvalue() == "demo: built 1 of 2\ndemo: built 2 of 2\n"
    for name in "ab":
        (tmp_path / name).unlink()
    build.run(command, build.Progress(seldom, 3600))
    assert seldom.getvalue() == ""


def test_a_build_that_fails_ends_the_demo_with_what_went_wrong(tmp_path, capsys):
    with pytest.raises(SystemExit, match="demo: the build failed"):
        build.make(ninja(tmp_path, "build a: fail"), "the build", build.Progress())
    assert "this went wrong" in capsys.readouterr().err


def test_a_demo_that_is_interrupted_ends_the_build(tmp_path):
    class Interrupting(build.Progress):
        def show(self, done, of):
            raise KeyboardInterrupt

    command = ninja(tmp_path, "build a: note", f"rule wait\n  command = sleep 60 && touch {tmp_path}/late", "build b: wait a")
    begun = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        build.run(command, Interrupting(io.StringIO()))
    assert time.monotonic() - begun < 30
