# SPDX-License-Identifier: BSD-2-Clause
"""Every folder below cases/ is one case; a file a path, which run side by side, puts all through it, byte for byte."""

import importlib.util
import os
import pathlib

from replay import replay

HERE = pathlib.Path(__file__).parent
FULL = bool(os.environ.get("GUIDEWAY_CHECK_FULL"))  # one more load of the program for each case
CASES = sorted(folder.name for folder in (HERE / "cases").iterdir() if (folder / "case.py").exists())


def load(name):
    spec = importlib.util.spec_from_file_location(f"case_{name}", HERE / "cases" / name / "case.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def raw(frame):
    return (frame[0], bytes(frame[1])) if isinstance(frame, tuple) else bytes(frame)


def allowed(case, field, path):
    return getattr(case, f"{field}_{path.upper()}", getattr(case, field))


def run(path, name, tmp_path):
    """One case through one path; assertions say what is wrong."""
    case = load(name)
    own = HERE / "cases" / name / "config.yaml"
    lines, frames = replay(
        path,
        own if own.exists() else HERE / "config.yaml",
        [raw(frame) for frame in case.IN],
        tmp_path,
        down=getattr(case, "DOWN", ()),
        mtu=getattr(case, "MTU", None),
        ways=getattr(case, "WAYS", None),
        untraced=path == "xdp" and (hasattr(case, "WAYS") or FULL),
    )
    wanted_lines = allowed(case, "LINES", path)
    assert len(lines) == len(case.IN) == len(wanted_lines)
    for line, wanted in zip(lines, wanted_lines):
        got = {field: line[field] for field in wanted}
        assert got == wanted, f"frame {line['index']}: {line}"
    if hasattr(case, "OUT"):
        wanted_frames = [bytes(frame) for frame in allowed(case, "OUT", path)]
        assert [frame.hex() for frame in frames] == [frame.hex() for frame in wanted_frames]
    if hasattr(case, "check"):
        case.check(lines, frames)
