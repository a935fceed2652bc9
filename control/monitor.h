/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Probes every backend of the configuration on its own timer and tells what the answers add up to
 * (health.h), by the backend's identity "pool/name", over reloads.
 *
 * First probes are spread at random over the interval, so that thousands of backends are not asked
 * at once; a backend never judged before is asked sooner. Later ones start one interval after the
 * one before, at random up to a twentieth earlier: that keeps them apart and never makes detection
 * later than fall x interval + timeout.
 *
 * Event loop's thread only.
 */
#pragma once

#include "control/health.h"
#include "control/model.h"

#include <uv.h>

struct gw_monitor;

/* Backends are named by pool and name, borrowed. What is known of them is the owner's to keep. */
struct gw_monitor_events {
	void *owner;
	/* What is known of a backend, asked by gw_monitor_configure: UNKNOWN for a new one. */
	enum gw_health (*known)(void *owner, const char *pool, const char *name);
	/* Does it serve although unknown? Asked for each result while it is. */
	bool (*presumed)(void *owner, const char *pool, const char *name);
	/* Its health changed; also called from gw_monitor_configure when its address did. */
	void (*changed)(void *owner, const char *pool, const char *name,
		const struct gw_health_change *change);
	/* A probe failed; `changed` follows if that was one too many. */
	void (*failed)(void *owner, const char *pool, const char *name, const char *text);
};

/* Returns 0 or -errno. */
int gw_monitor_new(
	uv_loop_t *loop, const struct gw_monitor_events *events, struct gw_monitor **out);

/* Stops all probes; its handles close on the loop's next turns. NULL is fine. */
void gw_monitor_free(struct gw_monitor *monitor);

/*
 * Probes the backends of this configuration from now on. Those that stay keep their health and, if
 * their check is the same, their rhythm; a changed address starts anew as unknown. `config` must
 * live until the next call has returned, or the monitor's end. Returns 0 or -ENOMEM, and then all
 * is as before.
 */
int gw_monitor_configure(struct gw_monitor *monitor, const struct gw_config *config);
