/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * guideway-control as a process of the system: whose it is, what it may do, and what the service
 * manager hears of it (base/notify.h). Capabilities go in two steps: what work never needs before
 * anything is read from outside, what only the start needs once it is done: CAP_SYS_ADMIN (the
 * kernel wants it for opening the maps of an earlier run by their ids), CAP_CHOWN.
 */
#pragma once

#include <uv.h>

#include <stdbool.h>
#include <stdint.h>

struct gw_process {
	uv_timer_t watchdog;
	bool watched;
};

/*
 * Becomes `user` (NULL: stays who it is), giving him the folders and what is in them, and gives up
 * all capabilities but those of the work and of the start. folders: NULL-terminated. Returns 0 or
 * -errno, having logged.
 */
int gw_process_restrict(const char *user, const char *const *folders);

/* The start is done: gives up what only it needed. Returns 0 or -errno, having logged. */
int gw_process_started(void);

/* Tells "ready" and, if the service manager watches, that the loop turns, from now on. */
void gw_process_ready(struct gw_process *process, uv_loop_t *loop, const char *status);

/* Around the reading of a new configuration. */
void gw_process_reloading(void);
void gw_process_reloaded(const char *status);

/* The end has begun and may take so long; may be called again. */
void gw_process_stopping(const char *status, uint64_t milliseconds);

/* Closes its handle on the loop. */
void gw_process_close(struct gw_process *process);
