/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Asks every backend of the configuration again and again, and tells when what is known of it
 * changes. What is known (health.h) is keyed by pool and name, so a new configuration changes only
 * what it changes.
 *
 * A watch is one backend of one pool. A target is one distinct probe: an address, a check, and the
 * way to it. Watches with the same target share it: one probe answers for all of them, each counts
 * by its own rise and fall.
 *
 * Each target has a phase within its interval, by a sequence that stays even whatever its length
 * (multiples of the golden ratio), and is asked at it again and again: thousands of backends are
 * spread evenly after a start as after a reload. Up to a twentieth of the interval of chance comes
 * on top. A backend never judged is asked sooner the first time, and one in transition (its last
 * result contradicts its state) every fast_interval until it is settled. Detection takes at most
 * fall intervals and the last probe's timeout.
 *
 * Event loop's thread only.
 */
#pragma once

#include "control/check.h"
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

/* How long probes took, answered or not, since the backend is watched. */
#define GW_DURATION_BUCKETS 12
extern const uint32_t gw_duration_bounds_us[GW_DURATION_BUCKETS];

struct gw_durations {
	uint64_t buckets[GW_DURATION_BUCKETS + 1]; /* up to each bound, not cumulated; the rest */
	uint64_t count;
	uint64_t sum_us;
};

struct gw_probe_answer {
	int64_t time_ms; /* wall clock, when it came */
	uint32_t duration_us;
	bool success;
	char text[GW_CHECK_TEXT];
};

#define GW_ANSWERS_KEPT 8

/* What `guideway backend explain` tells of one backend. */
struct gw_monitor_view {
	const struct gw_config_check *check;
	uint8_t address[16]; /* that is asked */
	bool under_way;
	uint64_t due_in_ms; /* until the next probe */
	bool fast;	    /* that one comes after fast_interval */
	size_t shared_by;   /* backends that this probe answers for, 1: only this one */
	struct gw_health_track track;
	struct gw_health_rules rules;
	size_t answer_count;
	const struct gw_probe_answer *answers[GW_ANSWERS_KEPT]; /* newest first */
	const struct gw_durations *durations;
};

/* False when the backend is not watched. Pointers are good until the loop turns again. */
bool gw_monitor_view(const struct gw_monitor *monitor, const char *pool, const char *name,
	struct gw_monitor_view *view);
