/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * guideway-dataplane as a process of the system: what it may do, and what the service manager hears
 * of it (base/notify.h). The watchdog is fed only while every worker's loop turns.
 */
#pragma once

#include "engine.h"

struct gw_process {
	bool watched;
	uint64_t cycles[GW_WORKERS_MAX]; /* of each worker when it was last seen to turn */
	uint32_t stuck;			 /* looks since one did not; 0: all turn */
};

/* Before EAL: gives up what neither start nor work needs. Returns 0 or -errno, having logged. */
int gw_process_restrict(void);

/* All ports are open, all threads run: gives up what only the start needed, in all of them. Returns
 * 0 or -errno, having logged. */
int gw_process_started(void);

/* Tells "ready", with a line for people. */
void gw_process_ready(struct gw_process *process, const char *status);

/* Once a second, by the main thread: feeds the watchdog if all is well. */
void gw_process_tick(struct gw_process *process, const struct gw_engine *engine);

void gw_process_stopping(void);
