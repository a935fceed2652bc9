# SPDX-License-Identifier: BSD-2-Clause
"""Fewer than 8 bytes of ICMP."""

from icmp_words import *

IN = [in4(proto=1) / Raw(b"\x08\0\xf7\xff\0\0\0"), in6(nh=58) / Raw(b"\x80\0\0\0\0\0\0")]
OUT = []
LINES = [drop("malformed")] * 2
