/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The statistics memfd of abi/dataplane_socket.h: main sums what the workers count, control reads.
 * The readers' mapping cannot be written and the file cannot shrink under them (seals).
 */
#pragma once

#include "abi/dataplane_socket.h"
#include "stats_owners.h"

#include <stddef.h>

struct gw_engine;

struct gw_stats_area {
	struct gw_stats *map; /* main writes, others map it read-only */
	size_t size;
	int fd;
	struct gw_stats_owners backends; /* whose the numbers are, by id */
	struct gw_stats_owners services;
};

/* Room for the engine's workers and the highest ids. Returns 0 or -errno. */
int gw_stats_open(struct gw_stats_area *area, const struct gw_engine *engine);
/* Where the workers write the sample of flows. */
struct gw_flow_sample *gw_stats_samples(struct gw_stats_area *area);
void gw_stats_close(struct gw_stats_area *area);

/* Writes fresh sums. Main only. */
void gw_stats_update(struct gw_stats_area *area, const struct gw_engine *engine);
