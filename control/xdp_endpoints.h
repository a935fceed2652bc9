/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the program must know to believe a router about our tunnels (abi/path_mtu.h): the backends'
 * addresses, in gw_endpoints, and our outer sources, in the configuration.
 */
#pragma once

#include "control/publisher.h"
#include "control/xdp_object.h"

struct gw_xdp_endpoint;

/* Start with zeroes. */
struct gw_xdp_endpoints {
	struct gw_xdp_endpoint *list; /* what the map holds, sorted by address */
	size_t count;
	bool read; /* what a former process has left there is in `list` */
};

/* Makes the map hold exactly the snapshot's. Returns 0 or -errno; then the next call tries again.
 */
int gw_xdp_endpoints_publish(struct gw_xdp_endpoints *endpoints, struct gw_xdp_object *object,
	const struct gw_snapshot *snapshot);
void gw_xdp_endpoints_fini(struct gw_xdp_endpoints *endpoints);
