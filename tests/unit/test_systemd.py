# SPDX-License-Identifier: BSD-2-Clause
"""The units: what systemd's own tools say of them, and that they agree with the programs."""

import os
import re
import subprocess

import pytest

from test_programs import BUILD, PROGRAMS, ROOT

UNITS = {"guideway-control.service": 3.0, "guideway-dataplane.service": 4.2}
PAGES = f"{ROOT}/docs"


@pytest.fixture(scope="module")
def units(tmp_path_factory):
    """The units with the programs of this build in the place of the installed ones."""
    folder = tmp_path_factory.mktemp("units")
    for name, where in PROGRAMS.items():
        os.symlink(f"{BUILD}/{where}/{name}", folder / name)
    for name in UNITS:
        with open(f"{ROOT}/config/systemd/{name}.in", encoding="utf-8") as stream:
            text = re.sub("@s?bindir@", str(folder), stream.read())
        (folder / name).write_text(text)
    return folder


def analyze(*arguments):
    return subprocess.run(["systemd-analyze", *arguments], capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize("name", UNITS)
def test_verify_has_nothing_to_say(units, name):
    done = analyze("verify", "--man=no", str(units / name))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("name", UNITS)
def test_exposure_stays_low(units, name):
    done = analyze("security", "--offline=yes", "--no-pager", f"--threshold={UNITS[name] * 10:.0f}", str(units / name))
    assert done.returncode == 0, done.stdout[-300:]


def test_a_broken_unit_is_told(units):
    broken = units / "broken.service"
    broken.write_text("[Service]\nExecStart=/nonexistent\nWatchdogSec=soon\n")
    done = analyze("verify", "--man=no", str(broken))
    assert ":3: Failed to parse" in done.stderr and "/nonexistent" in done.stderr


@pytest.mark.parametrize("name", UNITS)
def test_the_pages_that_a_unit_names_exist(units, name):
    pages = re.search(r"^Documentation=(.*)$", (units / name).read_text(), re.M).group(1).split()
    for page in pages:
        title, section = re.fullmatch(r"man:([\w.-]+)\((\d)\)", page).groups()
        assert os.path.exists(f"{PAGES}/{title}.{section}")


def test_control_may_not_start_with_more_than_it_asks_for(units):
    """The daemon gives up everything but a list: more in the unit would be for nothing, less too little."""
    with open(f"{ROOT}/control/process.c", encoding="utf-8") as stream:
        asked = set(re.findall(r"GW_CAPABILITY\((CAP_\w+)\)", stream.read()))
    text = (units / "guideway-control.service").read_text()
    for key in ("AmbientCapabilities", "CapabilityBoundingSet"):
        assert set(re.search(rf"^{key}=(.*)$", text, re.M).group(1).split()) == asked


def test_dataplane_may_not_start_with_more_than_it_asks_for(units):
    with open(f"{ROOT}/dataplane/process.c", encoding="utf-8") as stream:
        asked = set(re.findall(r"GW_CAPABILITY\((CAP_\w+)\)", stream.read()))
    text = (units / "guideway-dataplane.service").read_text()
    assert set(re.search(r"^CapabilityBoundingSet=(.*)$", text, re.M).group(1).split()) == asked


def test_the_shell_of_the_dataplane_unit_makes_way(units):
    """What the unit's shell runs is the daemon itself, with the file's arguments and EAL's."""
    command = re.search(r"^ExecStart=/bin/sh -c '(.*)'$", (units / "guideway-dataplane.service").read_text(), re.M)
    script = command.group(1).replace("$$", "$").replace("/etc/guideway/config.yaml", f"{ROOT}/config/dpdk.yaml")
    shown = script.replace("exec ", "printf '%s\\n' ")
    done = subprocess.run(
        ["/bin/sh", "-c", shown],
        env={"EAL_OPTIONS": "--no-huge -m 64", "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=True,
    )
    words = done.stdout.split("\n")
    assert words[0].endswith("/guideway-dataplane") and "--port" in words
    assert words[words.index("--") :][-4:] == ["--no-huge", "-m", "64", ""]
