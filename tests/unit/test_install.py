# SPDX-License-Identifier: BSD-2-Clause
"""What `meson install` would put where, as meson itself says it."""

import json
import os
import re
import subprocess

import pytest

from test_programs import BUILD, PROGRAMS, ROOT

PAGES = ["api.md", "metrics.md", "openapi.json"]


@pytest.fixture(scope="module")
def installed():
    """Where each file of the source or the build goes, from its path there."""
    done = subprocess.run(
        ["meson", "introspect", "--installed", BUILD], capture_output=True, text=True, timeout=60, check=True
    )
    return json.loads(done.stdout)


def target(installed, source):
    return installed.get(os.path.realpath(source), "")


@pytest.mark.parametrize("name", PAGES)
def test_pages_for_who_asks_the_api_or_scrapes_are_installed(installed, name):
    assert target(installed, f"{ROOT}/docs/{name}").endswith(f"/share/doc/guideway/{name}")


@pytest.mark.parametrize("name", PAGES)
def test_an_installed_page_links_to_nothing_that_is_not_installed_beside_it(installed, name):
    with open(f"{ROOT}/docs/{name}", encoding="utf-8") as stream:
        links = re.findall(r"\]\((?!https?:|#)([^)#]+)", stream.read())
    assert bool(links) == (name == "api.md")
    for link in links:
        there = os.path.dirname(target(installed, f"{ROOT}/docs/{name}"))
        assert target(installed, f"{ROOT}/docs/{link}") == os.path.normpath(f"{there}/{link}"), link


def test_every_program_is_installed_with_its_page_and_its_completion_by_its_name(installed):
    there = set(installed.values())
    for name, folder in PROGRAMS.items():
        if not os.path.exists(f"{BUILD}/{folder}/{name}"):
            continue
        assert os.path.basename(target(installed, f"{BUILD}/{folder}/{name}")) == name
        assert any(re.search(rf"/man/man[18]/{name}\.[18]$", path) for path in there), name
    for name in ("guideway", "guideway-bench"):
        assert any(path.endswith(f"/bash-completion/completions/{name}") for path in there), name
