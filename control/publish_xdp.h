/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The publisher for the XDP datapath (publisher.h): it owns the pinned maps, the program on the
 * interfaces and what keeps them alive.
 *
 * Everything is pinned below one folder of a bpffs, so forwarding outlives this process: a restart
 * adopts the maps (and with them every tracked flow), loads the program of its own build over them
 * and swaps it into the pinned links. A snapshot is put in force in this order: backends, tables
 * (one batch), services; what nothing names any more is cleared after a grace period.
 */
#pragma once

#include "control/model.h"
#include "control/publisher.h"

#include <uv.h>

struct gw_publisher_xdp_options {
	const struct gw_config *config; /* interfaces, flows; must live until open returns */
	const char *pin_dir;
};

/*
 * Loads or adopts, attaches, starts the heartbeat. Logs what is wrong (a foreign program by name
 * and id, pinned maps of another ABI, an interface that is missing). Returns 0 or -errno; a failure
 * leaves what was pinned and attached before as it was.
 */
int gw_publisher_xdp_open(uv_loop_t *loop, const struct gw_publisher_xdp_options *options,
	const struct gw_publisher_events *events, struct gw_publisher **out);

/* Takes the program off every interface and removes what is pinned there: forwarding ends. 0,
 * -ENOENT when there is no such folder, -ENOTDIR when it is in no bpffs, -EBUSY while a control
 * works with it, or another -errno. */
int gw_publisher_xdp_detach(const char *pin_dir);
