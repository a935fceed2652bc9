# SPDX-License-Identifier: BSD-2-Clause
"""Labs for the tests: each with a prefix of its own, removed whatever happens.

The programs come from $GUIDEWAY_BUILD, else from build/.
"""

import itertools
import os
import sys

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
sys.dont_write_bytecode = True
sys.path.insert(0, f"{ROOT}/tools")

from labkit import config, lab as labs  # noqa: E402

BUILD = os.path.abspath(os.environ.get("GUIDEWAY_BUILD") or f"{ROOT}/build")


numbers = itertools.count()


class LabMaker:
    """Makes labs; keeps their prefixes so that they go in the end."""

    def __init__(self):
        self.prefixes = []

    def __call__(self, path="xdp", xdp_mode="auto", driver="af_xdp", **options):
        prefix = f"gwt{os.getpid() % 1000000}x{next(numbers)}"
        self.prefixes.append(prefix)
        port = config.Port(path, xdp_mode, driver)
        return labs.Lab.up(labs.Options(prefix=prefix, port=port, build=BUILD, **options))

    def remove(self):
        for prefix in self.prefixes:
            labs.down(prefix)


@pytest.fixture
def make_lab():
    """A function that makes a lab: path, xdp_mode, driver, and the fields of labkit.lab.Options."""
    maker = LabMaker()
    yield maker
    maker.remove()


@pytest.fixture(scope="module")
def make_module_lab():
    """The same for labs that all tests of a file share."""
    maker = LabMaker()
    yield maker
    maker.remove()


def pytest_sessionstart(session):
    if os.geteuid() != 0:
        raise pytest.UsageError("the end-to-end tests make network namespaces: run them as root")
