/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/* Between guideway-control and bpf/probe_encap.bpf.c: how a health probe gets to its backend. */
#pragma once

#include "abi/objects.h"

struct gw_probe_way {
	struct gw_backend backend; /* encap, family, flags, gue_port, overhead, outer addresses */
	uint32_t ifindex;	   /* towards the next hop; 0: there is no route, drop */
	uint8_t next_hop_family;   /* GW_IPV4 or GW_IPV6 */
	uint8_t reserved[11];
	struct gw_address next_hop; /* a gateway, or the backend itself */
	uint8_t padding[32];
};
_Static_assert(sizeof(struct gw_probe_way) == 128, "two cache lines");
