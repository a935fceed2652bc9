# SPDX-License-Identifier: BSD-2-Clause
"""The ways to take packets in that the tests go through, as arguments of make_lab."""

import pytest

XDP_NATIVE = pytest.param({"path": "xdp", "xdp_mode": "native"}, id="xdp-native")
XDP_GENERIC = pytest.param({"path": "xdp", "xdp_mode": "generic"}, id="xdp-generic")
DPDK_AF_XDP = pytest.param({"path": "dpdk", "driver": "af_xdp"}, id="dpdk-af_xdp")
DPDK_AF_PACKET = pytest.param({"path": "dpdk", "driver": "af_packet"}, id="dpdk-af_packet")

EVERY = [XDP_NATIVE, XDP_GENERIC, DPDK_AF_XDP, DPDK_AF_PACKET]
BOTH = [XDP_NATIVE, DPDK_AF_XDP]
