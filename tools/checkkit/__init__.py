# SPDX-License-Identifier: BSD-2-Clause
"""Behind tools/check: builds.py makes the builds, suites.py runs test programs and counts, lint.py reads
the sources, tally.py adds up and prints."""
