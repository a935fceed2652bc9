# SPDX-License-Identifier: BSD-2-Clause
"""RFC 768, RFC 8200 section 8.1: a checksum that comes out as zero is sent as 0xffff."""

from golden import *

def packet(word):
    return in6(dst="2001:db8:113::142") / UDP(sport=40000, dport=53, chksum=0x1234) / Raw(word.to_bytes(2, "big"))


# The payload's last word takes up what is missing: with it the sum of all is 0xffff.
SUM = fixed(gue6(packet(0), "fd82::141"))[UDP].chksum
PACKET = packet(SUM)
IN = [PACKET]
OUT = [gue6(PACKET, "fd82::141")]
LINES = [tx("g6")]
assert fixed(OUT[0])[UDP].chksum == 0xFFFF
