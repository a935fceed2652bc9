#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Sends one tunnel packet from inside a balancer's namespace: what a balancer would send, made by scapy.

Arguments: outer source, outer destination, inner source, inner destination, next hop's MAC, payload.
The inner packet is an ICMP or ICMPv6 echo request, which the backend's own stack answers.
"""

import sys

from scapy.layers.inet import ICMP, IP
from scapy.layers.inet6 import ICMPv6EchoRequest, IPv6
from scapy.layers.l2 import Ether
from scapy.sendrecv import sendp


def packet_make(outer_source, outer_destination, inner_source, inner_destination, mac, payload):
    if ":" in inner_source:
        inner = IPv6(src=inner_source, dst=inner_destination) / ICMPv6EchoRequest(data=payload)
        number = 41
    else:
        inner = IP(src=inner_source, dst=inner_destination) / ICMP() / payload
        number = 4
    if ":" in outer_source:
        outer = IPv6(src=outer_source, dst=outer_destination, nh=number)
    else:
        outer = IP(src=outer_source, dst=outer_destination, proto=number)
    return Ether(dst=mac) / outer / inner


if __name__ == "__main__":
    sendp(packet_make(*sys.argv[1:7]), iface="eth1", verbose=False)
