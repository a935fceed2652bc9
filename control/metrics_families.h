/* SPDX-License-Identifier: BSD-2-Clause */
/* Between metrics.c and the files that write a group of families each. */
#pragma once

#include "control/daemon.h"
#include "metrics_text.h"

/* metrics_daemon.c: the daemon, its configuration, its API, the process. */
void metrics_daemon(struct metrics_text *text, struct gw_daemon *daemon);

/* metrics_objects.c: services, pools, backends. stats is NULL without a datapath. */
void metrics_objects(struct metrics_text *text, const struct gw_build *build,
	const struct gw_publisher_stats *stats);

/* metrics_probes.c: how long probes took. */
void metrics_probes(struct metrics_text *text, const struct gw_daemon *daemon);

/* metrics_datapath.c: packets, drops, flows, workers, ports. */
void metrics_datapath(struct metrics_text *text, const struct gw_daemon *daemon,
	const struct gw_publisher_stats *stats);
