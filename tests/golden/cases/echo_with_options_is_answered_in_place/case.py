# SPDX-License-Identifier: BSD-2-Clause
"""RFC 1122, 3.2.2.6: options go back with the answer."""

from icmp_words import *

OPTIONS = [[IPOption_NOP()], [IPOption_RR(routers=["0.0.0.0"] * 9)], [IPOption_Timestamp(length=12, pointer=9, flg=0)]]
IN = [in4(options=options) / ICMP(id=2) / Raw(b"options") for options in OPTIONS]
OUT = [answer(frame) for frame in IN]
LINES = [reply(i) for i in range(len(IN))]
