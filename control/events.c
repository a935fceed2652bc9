/* SPDX-License-Identifier: BSD-2-Clause */
#include "control/events.h"

#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define KINDS_MAX 32

struct event {
	int64_t time_ms;
	char kind[16];
	char subject[184]; /* "pool/backend", of GW_PART_MAX and GW_NAME_MAX */
	char from[32];
	char to[32];
	char why[256];
};

/* Event number n lies in ring[n % GW_EVENTS_KEPT]; numbers start at 1. */
struct gw_events {
	uint64_t next;
	gw_events_heard *heard; /* may be NULL */
	void *owner;
	struct event ring[GW_EVENTS_KEPT];
	struct {
		char kind[16];
		uint64_t count; /* 0: free */
	} kinds[KINDS_MAX];	/* the last one counts all that find no room */
};

struct gw_events *gw_events_new(void)
{
	struct gw_events *events = calloc(1, sizeof(*events));

	if (events)
		events->next = 1;
	return events;
}

void gw_events_listen(struct gw_events *events, gw_events_heard *heard, void *owner)
{
	events->heard = heard;
	events->owner = owner;
}

void gw_events_free(struct gw_events *events)
{
	free(events);
}

int64_t gw_time_wall_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

char *gw_time_format(int64_t wall_ms, char text[static 32])
{
	time_t seconds = (time_t)(wall_ms / 1000);
	struct tm broken;
	size_t used;

	gmtime_r(&seconds, &broken);
	used = strftime(text, 32, "%Y-%m-%dT%H:%M:%S", &broken);
	snprintf(text + used, 32 - used, ".%03dZ", (int)(wall_ms % 1000));
	return text;
}

static void kind_count(struct gw_events *events, const char *kind)
{
	size_t i = 0;

	while (i < KINDS_MAX - 1 && events->kinds[i].count &&
		strcmp(events->kinds[i].kind, kind) != 0)
		i++;
	if (!events->kinds[i].count)
		snprintf(events->kinds[i].kind, sizeof(events->kinds[i].kind), "%s", kind);
	events->kinds[i].count++;
}

void gw_events_counts(const struct gw_events *events,
	void (*visit)(void *owner, const char *kind, uint64_t count), void *owner)
{
	for (size_t i = 0; i < KINDS_MAX && events->kinds[i].count; i++)
		visit(owner, events->kinds[i].kind, events->kinds[i].count);
}

static void event_log(const struct event *event, enum gw_log_level level)
{
	const struct gw_log_field fields[] = {{"kind", event->kind}, {"subject", event->subject},
		{"from", event->from}, {"to", event->to}, {"why", event->why}};
	bool change = event->from[0] && event->to[0];

	gw_log_fields(level, fields, sizeof(fields) / sizeof(fields[0]), "%s%s%s%s%s%s%s%s%s",
		event->kind, event->subject[0] ? " " : "", event->subject,
		event->from[0] || event->to[0] ? ": " : "", event->from, change ? " -> " : "",
		event->to, event->why[0] ? ": " : "", event->why);
}

/* It may quote what came from outside: JSON takes valid UTF-8 only, a log no line feeds. */
static void text_clean(char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < 0x20 || (unsigned char)*text >= 0x7f)
			*text = '?';
}

static void event_add(struct gw_events *events, enum gw_log_level level, const char *kind,
	const char *subject, const char *from, const char *to, const char *why, va_list arguments)
{
	struct event *event = &events->ring[events->next++ % GW_EVENTS_KEPT];

	event->time_ms = gw_time_wall_ms();
	snprintf(event->kind, sizeof(event->kind), "%s", kind);
	snprintf(event->subject, sizeof(event->subject), "%s", subject);
	snprintf(event->from, sizeof(event->from), "%s", from);
	snprintf(event->to, sizeof(event->to), "%s", to);
	vsnprintf(event->why, sizeof(event->why), why, arguments);
	text_clean(event->subject);
	text_clean(event->why);
	kind_count(events, kind);
	event_log(event, level);
	if (events->heard)
		events->heard(events->owner, event->time_ms, event->kind, event->subject,
			event->from, event->to, event->why);
}

void gw_events_add(struct gw_events *events, const char *kind, const char *subject,
	const char *from, const char *to, const char *why, ...)
{
	va_list arguments;

	va_start(arguments, why);
	event_add(events, GW_LOG_INFO, kind, subject, from, to, why, arguments);
	va_end(arguments);
}

void gw_events_warn(struct gw_events *events, const char *kind, const char *subject,
	const char *from, const char *to, const char *why, ...)
{
	va_list arguments;

	va_start(arguments, why);
	event_add(events, GW_LOG_WARNING, kind, subject, from, to, why, arguments);
	va_end(arguments);
}

static json_t *event_json(const struct event *event, uint64_t number)
{
	char time[32];

	return json_pack("{s:I, s:s, s:s, s:s, s:s, s:s, s:s}", "number", (json_int_t)number,
		"time", gw_time_format(event->time_ms, time), "kind", event->kind, "subject",
		event->subject, "from", event->from, "to", event->to, "why", event->why);
}

json_t *gw_events_json(const struct gw_events *events, uint64_t since, size_t limit)
{
	uint64_t oldest = events->next > GW_EVENTS_KEPT ? events->next - GW_EVENTS_KEPT : 1;
	uint64_t first = since < oldest ? oldest : since;
	json_t *list = json_array();
	uint64_t number;

	if (first > events->next)
		first = events->next; /* a number of an earlier run of the daemon */
	for (number = first; number < events->next && number - first < limit; number++) {
		const struct event *event = &events->ring[number % GW_EVENTS_KEPT];

		if (json_array_append_new(list, event_json(event, number))) {
			json_decref(list);
			return NULL;
		}
	}
	return json_pack("{s:I, s:I, s:o}", "next", (json_int_t)number, "lost",
		(json_int_t)(since && since < first ? first - since : 0), "events", list);
}
