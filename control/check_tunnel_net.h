/* SPDX-License-Identifier: BSD-2-Clause */
/* What probes through the tunnel need of the kernel's network: a device, a rule, two routes. */
#pragma once

#include <stdint.h>

struct tunnel_net {
	uint32_t mark, mask; /* what the rule matches */
	uint32_t table;
	uint32_t ifindex; /* of the device; 0: none */
};

/*
 * Makes device, rules and routes, in the place of older ones of that name; fills net->ifindex.
 * Returns 0 or -errno, having logged which step failed and removed what was made.
 */
int tunnel_net_make(struct tunnel_net *net);

/* Removes them; what is gone already is fine. */
void tunnel_net_remove(struct tunnel_net *net);
