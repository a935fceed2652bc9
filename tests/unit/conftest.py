# SPDX-License-Identifier: BSD-2-Clause
"""The tools' own Python, imported from tools/."""

import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
sys.path.insert(0, f"{ROOT}/tools")
