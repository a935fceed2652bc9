/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The program that is run for every transition (hooks.transition), one after the other in their
 * order, without a shell. It learns what happened by its environment: GUIDEWAY_KIND, _SUBJECT,
 * _POOL, _BACKEND, _FROM, _TO, _WHY and _TIME. One that takes longer than hooks.timeout is killed
 * with all it started. While one runs the next wait; when too many do, the oldest are dropped,
 * which is logged.
 *
 * Event loop's thread only.
 */
#pragma once

#include "control/model.h"

#include <uv.h>

#define GW_HOOK_WAITING_MAX 1024

struct gw_hook;

struct gw_hook_event {
	int64_t time_ms;
	const char *kind, *subject, *from, *to, *why;
};

/* Returns 0 or -ENOMEM. Nothing is run before gw_hook_configure. */
int gw_hook_new(uv_loop_t *loop, struct gw_hook **out);

/* From now on this program; what waits is run by it too. -ENOMEM: as before. */
int gw_hook_configure(struct gw_hook *hook, const struct gw_config_hooks *settings);

/* Runs the program for it, now or in its turn. Nothing without a program. */
void gw_hook_run(struct gw_hook *hook, const struct gw_hook_event *event);

/* Kills what runs, drops what waits; freed on the loop's next turns. NULL is fine. */
void gw_hook_close(struct gw_hook *hook);
