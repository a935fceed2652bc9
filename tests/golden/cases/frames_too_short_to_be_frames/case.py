# SPDX-License-Identifier: BSD-2-Clause
"""Under 14 bytes."""

from golden import *

IN = [b"\x02" * 13, b"\x02"]
OUT = []
LINES = [drop("malformed")] * 2
