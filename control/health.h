/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What successive probes say about one backend. Only results in a row count: `rise` successes bring
 * it up, `fall` failures take it down, and one result of the other kind starts the count anew, so a
 * backend that answers every other probe changes nothing.
 *
 * A backend never judged is unknown. One that serves meanwhile because its whole pool is new
 * (runtime.h: presumed) is judged by its first result, one way or the other; one that joins a pool
 * in service comes in by `rise`, like one that was down.
 *
 * Pure: no clock, no loop. The monitor (monitor.h) feeds it.
 */
#pragma once

#include "control/runtime.h"

#include <stdbool.h>
#include <stdint.h>

#define GW_HEALTH_CAUSE 160

struct gw_health_rules {
	uint16_t rise;
	uint16_t fall;
	bool presumed; /* while unknown it serves */
};

struct gw_health_track {
	enum gw_health health;
	bool streak_of_success;
	uint16_t streak; /* results of that kind in a row, saturating */
};

/* A transition, for events and log. */
struct gw_health_change {
	enum gw_health from;
	enum gw_health to;
	char cause[GW_HEALTH_CAUSE]; /* "http 503, 3 of 3" */
};

/* One more result; text says what it was. True, and *change filled, when the health changes. */
bool gw_health_feed(struct gw_health_track *track, const struct gw_health_rules *rules,
	bool success, const char *text, struct gw_health_change *change);

/* "2 of 3 failures; the next failure takes it down": what brings the next change. Returns text. */
char *gw_health_next(const struct gw_health_track *track, const struct gw_health_rules *rules,
	char text[static GW_HEALTH_CAUSE]);
