/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ages the XDP path's flow table in short slices of the event loop: retires words before their
 * stamps wrap and counts the active flows per backend. A pass begins at most once a second.
 */
#pragma once

#include "abi/flow_sweep.h"
#include "control/xdp_object.h"

struct gw_xdp_sweep {
	const struct gw_xdp_object *object;
	uint32_t *backend_flows; /* [GW_XDP_BACKENDS], of the last whole pass */
	uint32_t *counting;	 /* of the pass under way */
	uint64_t active;
	uint64_t counting_active;
	uint32_t bucket;       /* next to visit */
	uint32_t pass_started; /* second */
	struct gw_flow_sweep walk;
	uint64_t *marks; /* of `walk` */
};

int gw_xdp_sweep_init(struct gw_xdp_sweep *sweep, const struct gw_xdp_object *object);
void gw_xdp_sweep_fini(struct gw_xdp_sweep *sweep);

/* At most some 2 ms of work. `now` in seconds of CLOCK_MONOTONIC. */
void gw_xdp_sweep_slice(struct gw_xdp_sweep *sweep, uint32_t now);
