# SPDX-License-Identifier: BSD-2-Clause
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
pytest.register_assert_rewrite("each_case")
