/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The publisher for guideway-dataplane (publisher.h): sealed snapshots over its Unix SEQPACKET
 * socket (abi/dataplane_socket.h). It connects by itself, again every 250 ms while there is no
 * dataplane, and sends what is current at once when one appears, so a dataplane that was killed and
 * started gets its tables again.
 *
 * The datapath event is told after a valid hello; its detail names what differs from the
 * configuration (ports, workers, flows) or is NULL. Ask ops->version() then: when the dataplane
 * runs a version above ours (the state was lost), raise the counter and publish anew.
 */
#pragma once

#include "control/model.h"
#include "control/publisher.h"

#include <uv.h>

struct gw_publisher_dpdk_options {
	const char *socket; /* NULL: GW_DATAPLANE_SOCKET */
	/* What the hello is compared with; NULL: nothing. Must live as long as the publisher, or
	 * until gw_publisher_dpdk_configure names another. */
	const struct gw_config_dataplane *dataplane;
};

/* `events` is copied. Returns 0 or -errno. Close it by ops->close; its handles are gone after the
 * loop's next turn. */
int gw_publisher_dpdk_open(uv_loop_t *loop, const struct gw_publisher_dpdk_options *options,
	const struct gw_publisher_events *events, struct gw_publisher **out);

/* After a reload: compare with this one from now on. */
void gw_publisher_dpdk_configure(
	struct gw_publisher *publisher, const struct gw_config_dataplane *dataplane);
