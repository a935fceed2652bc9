# SPDX-License-Identifier: BSD-2-Clause
"""Every case of cases/ through path xdp."""

import each_case
import pytest


@pytest.mark.parametrize("name", each_case.CASES)
def test_case(name, tmp_path):
    each_case.run("xdp", name, tmp_path)
