# SPDX-License-Identifier: BSD-2-Clause
"""Not to the backend of an earlier datagram that had the same id."""

from golden import *

ONE = in4(id=77, flags=0) / UDP(sport=4000, dport=53) / Raw(DATA[:2000])
OTHER = in4(id=77, flags=0) / UDP(sport=4000, dport=54) / Raw(DATA[:2000])
IN = [cut4(ONE, 1200)[0], cut4(OTHER, 1200)[0], cut4(OTHER, 1200)[1]]
LINES = [tx("b4", service="dns"), drop("no_service"), EXPIRED]
LINES_XDP = [tx("b4", service="dns"), drop("no_service"), EARLY]
