/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The sweeper thread walks the whole flow table again and again at a low duty: it retires words
 * whose timeout has passed, so that no stamp grows so old that it looks young again, and counts the
 * active flows of each backend into engine->backend_flows and engine->flows_active.
 */
#pragma once

#include "abi/flow_sweep.h"

#include <stdbool.h>
#include <stdint.h>

struct gw_engine;
struct gw_sweeper;

/* Starts the thread. Returns 0 or -errno. */
int gw_sweeper_start(struct gw_sweeper **sweeper, struct gw_engine *engine);

/* Ends the thread and frees. NULL is fine. */
void gw_sweeper_stop(struct gw_sweeper *sweeper);

/*
 * The part of a walk that visits buckets first … end-1, at time `now`; adds each active flow to
 * counts[backend]. Returns the number of active flows seen. What gw_sweeper_start's thread does;
 * tests and replay call it by hand.
 */
uint64_t gw_sweep(struct gw_engine *engine, struct gw_flow_sweep *sweep, uint32_t first,
	uint32_t end, uint32_t now, uint32_t *counts);
