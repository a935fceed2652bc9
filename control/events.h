/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What happened, in order: every transition of a backend, reload, publication and change by hand is
 * one event. It is logged as one line and kept in a ring, from which the API answers
 * `events?since=N`. Numbers rise by one and never repeat within one run of the daemon.
 */
#pragma once

#include <jansson.h>

#include <stdbool.h>
#include <stdint.h>

#define GW_EVENTS_KEPT 1024

struct gw_events;

/* NULL without memory. Event loop's thread only, like all calls here. */
struct gw_events *gw_events_new(void);
void gw_events_free(struct gw_events *events); /* NULL is fine */

/* Called for each event, after it was logged; texts are borrowed. */
typedef void gw_events_heard(void *owner, int64_t time_ms, const char *kind, const char *subject,
	const char *from, const char *to, const char *why);
void gw_events_listen(struct gw_events *events, gw_events_heard *heard, void *owner);

/*
 * kind: "health", "override", "reload", "publish", "datapath", "audit", "start", "stop". subject:
 * "web/b1"; may be empty, as may from and to. why is a printf format.
 */
void gw_events_add(struct gw_events *events, const char *kind, const char *subject,
	const char *from, const char *to, const char *why, ...)
	__attribute__((format(printf, 6, 7)));

/* The same, logged as a warning. */
void gw_events_warn(struct gw_events *events, const char *kind, const char *subject,
	const char *from, const char *to, const char *why, ...)
	__attribute__((format(printf, 6, 7)));

/*
 * {"next":N,"lost":n,"events":[{"number","time","kind","subject","from","to","why"}]}: those from
 * number `since` on, at most `limit`, oldest first; ask again with "next". "lost" counts events
 * that had already left the ring. NULL without memory; the caller owns the reference.
 */
json_t *gw_events_json(const struct gw_events *events, uint64_t since, size_t limit);

/* Calls `visit` with each kind that was added and how often that was. */
void gw_events_counts(const struct gw_events *events,
	void (*visit)(void *owner, const char *kind, uint64_t count), void *owner);

/* "2026-11-30T04:21:48.123Z" of milliseconds since the epoch. Returns text. */
char *gw_time_format(int64_t wall_ms, char text[static 32]);

int64_t gw_time_wall_ms(void);
