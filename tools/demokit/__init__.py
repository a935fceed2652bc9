# SPDX-License-Identifier: BSD-2-Clause
"""Behind tools/demo: show.py plays the scenes on a lab, watch.py follows the balancer meanwhile, judge.py
turns what was recorded into the summary and the verdict, screen.py prints."""
