/* SPDX-License-Identifier: BSD-2-Clause */
/* Lines of at most 80 columns, but for what an operator must read whole. */
#include "listing.h"
#include "top.h"
#include "value.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct top_line *line_add(struct top_lines *lines, enum top_style style, const char *format,
	...) __attribute__((format(printf, 3, 4)));

static struct top_line *line_add(
	struct top_lines *lines, enum top_style style, const char *format, ...)
{
	struct top_line *line;
	va_list arguments;

	if (lines->count == lines->room) {
		size_t room = lines->room * 2 + 64;
		struct top_line *list = realloc(lines->list, room * sizeof(*list));

		if (!list)
			return NULL;
		lines->list = list;
		lines->room = room;
	}
	line = &lines->list[lines->count++];
	*line = (struct top_line){.style = style};
	va_start(arguments, format);
	vsnprintf(line->text, sizeof(line->text), format, arguments);
	va_end(arguments);
	return line;
}

static void title_add(struct top_lines *lines, const char *text)
{
	struct top_line *line = line_add(lines, TOP_TITLE, "%s", text);

	if (line)
		line->section = true;
}

/* "1.23M": three digits and what they are counted in. */
static char *text_rate(double value, char text[static 16])
{
	static const char units[] = " kMGT";
	size_t unit = 0;

	while (value >= 999.5 && units[unit + 1]) {
		value /= 1000;
		unit++;
	}
	if (!unit)
		snprintf(text, 16, "%.0f", value);
	else
		snprintf(text, 16, "%.*f%c",
			value < 10    ? 2
			: value < 100 ? 1
				      : 0,
			value, units[unit]);
	return text;
}

static void head_add(struct top_lines *lines, const json_t *rates)
{
	const json_t *status = json_object_get(rates, "status");
	const json_t *datapath = json_object_get(status, "datapath");
	const json_t *flows = json_object_get(status, "flows");
	const json_t *node = json_object_get(status, "node_state");
	const char *state = value_text(node, "state");
	char in[16], out[16], bps[16], drops[16], fresh[16], uptime[24], hit[16] = "-";

	line_add(lines, TOP_TITLE, "guideway %s  %s %s%s%s  snapshot %lld  up %s",
		value_text(status, "node")[0] ? value_text(status, "node") : "(unnamed)",
		value_text(datapath, "path"),
		json_is_true(json_object_get(datapath, "present")) ? "present" : "ABSENT",
		strcmp(state, "serving") && state[0] ? "  node " : "",
		strcmp(state, "serving") ? state : "",
		value_integer(json_object_get(status, "snapshot"), "in_force"),
		text_duration(value_integer(status, "uptime_ms"), uptime));
	if (json_object_get(rates, "hit_rate"))
		snprintf(hit, sizeof(hit), "%.2f%%", value_real(rates, "hit_rate") * 100);
	line_add(lines, TOP_PLAIN, "%s pps in, %s pps out, %sbit/s, %s drops/s",
		text_rate(value_real(rates, "rx_pps"), in),
		text_rate(value_real(rates, "tx_pps"), out),
		text_rate(value_real(rates, "bps"), bps),
		text_rate(value_real(rates, "drops_pps"), drops));
	line_add(lines, TOP_PLAIN, "flows %lld of %lld, %s new/s, hit rate %s",
		value_integer(flows, "active"), value_integer(flows, "capacity"),
		text_rate(value_real(rates, "flows_new_pps"), fresh), hit);
	lines->head = lines->count;
}

static void problems_add(struct top_lines *lines, const json_t *rates)
{
	const json_t *problems = json_object_get(json_object_get(rates, "status"), "problems");
	const json_t *problem;
	size_t i;

	json_array_foreach (problems, i, problem)
		line_add(lines, TOP_BAD, "! %s", json_string_value(problem));
}

static void services_add(struct top_lines *lines, const json_t *rates)
{
	char title[TOP_LINE], pps[16], bps[16];
	const json_t *one;
	size_t i;

	snprintf(title, sizeof(title), "%-22s %-16s %7s %8s %8s %8s", "SERVICE", "POOL", "HEALTHY",
		"MEMBERS", "PPS", "BIT/S");
	title_add(lines, title);
	json_array_foreach (json_object_get(rates, "services"), i, one) {
		bool bad = !value_integer(one, "members") ||
			   json_is_true(json_object_get(one, "panic"));

		line_add(lines, bad ? TOP_BAD : TOP_PLAIN,
			"%-22.22s %-16.16s %3lld/%-3lld %8lld %8s %8s", value_text(one, "name"),
			value_text(one, "pool"), value_integer(one, "healthy"),
			value_integer(one, "backends"), value_integer(one, "members"),
			text_rate(value_real(one, "pps"), pps),
			text_rate(value_real(one, "bps"), bps));
	}
}

/* Down is bad; whatever else is not as it should be for good is worth a look. */
static enum top_style backend_style(const json_t *backend)
{
	if (!strcmp(value_text(backend, "health"), "down"))
		return TOP_BAD;
	if (strcmp(value_text(backend, "state"), "active"))
		return TOP_WARN;
	return strcmp(value_text(backend, "health"), "up") ? TOP_DIM : TOP_PLAIN;
}

static void backends_add(struct top_lines *lines, const json_t *rates)
{
	char title[TOP_LINE], name[144], pps[16], bps[16];
	const json_t *one;
	size_t i;

	snprintf(title, sizeof(title), "%-22s %-8s %-7s %6s %6s %6s %7s %7s", "BACKEND", "STATE",
		"HEALTH", "SHARE", "GOT", "FLOWS", "PPS", "BIT/S");
	title_add(lines, title);
	json_array_foreach (json_object_get(rates, "backends"), i, one) {
		snprintf(name, sizeof(name), "%s/%s", value_text(one, "pool"),
			value_text(one, "name"));
		line_add(lines, backend_style(one),
			"%-22.22s %-8.8s %-7.7s %5.1f%% %5.1f%% %6lld %7s %7s", name,
			value_text(one, "state"), value_text(one, "health"),
			value_real(one, "share") * 100, value_real(one, "got") * 100,
			value_integer(one, "active_flows"), text_rate(value_real(one, "pps"), pps),
			text_rate(value_real(one, "bps"), bps));
	}
}

static void drops_add(struct top_lines *lines, const json_t *rates)
{
	const json_t *list = json_object_get(rates, "drops"), *one;
	char title[TOP_LINE], pps[16];
	size_t i;

	snprintf(title, sizeof(title), "%-22s %16s %8s", "DROPS", "PACKETS", "PER S");
	title_add(lines, title);
	json_array_foreach (list, i, one)
		line_add(lines, value_real(one, "pps") > 0 ? TOP_WARN : TOP_DIM,
			"%-22.22s %16lld %8s", value_text(one, "reason"),
			value_integer(one, "packets"), text_rate(value_real(one, "pps"), pps));
	if (!json_array_size(list))
		line_add(lines, TOP_DIM, "none");
}

/* The XDP program has no workers: the CPUs that take interrupts run it. */
static void workers_add(struct top_lines *lines, const json_t *rates)
{
	const json_t *list = json_object_get(rates, "workers"), *one;
	char title[TOP_LINE], pps[16];
	size_t i;

	if (!json_array_size(list))
		return;
	snprintf(title, sizeof(title), "%-8s %6s %8s %8s  %s", "WORKER", "CPU", "BUSY", "PPS",
		"NOW");
	title_add(lines, title);
	json_array_foreach (list, i, one)
		line_add(lines, value_real(one, "busy") > 0.9 ? TOP_WARN : TOP_PLAIN,
			"%-8lld %6lld %7.1f%% %8s  %s", value_integer(one, "worker"),
			value_integer(one, "cpu"), value_real(one, "busy") * 100,
			text_rate(value_real(one, "pps"), pps),
			json_is_true(json_object_get(one, "asleep")) ? "asleep" : "polls");
}

bool top_lines_make(struct top_lines *lines, const json_t *rates)
{
	lines->count = 0;
	head_add(lines, rates);
	problems_add(lines, rates);
	line_add(lines, TOP_PLAIN, "%s", "");
	services_add(lines, rates);
	line_add(lines, TOP_PLAIN, "%s", "");
	backends_add(lines, rates);
	line_add(lines, TOP_PLAIN, "%s", "");
	drops_add(lines, rates);
	line_add(lines, TOP_PLAIN, "%s", "");
	workers_add(lines, rates);
	return lines->count > 0;
}

void top_lines_free(struct top_lines *lines)
{
	free(lines->list);
	*lines = (struct top_lines){0};
}
