/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The reverse of json.c, as far as charts need it: the cases and their figures again, in groups as
 * the plan had them, so that a chart can be drawn where nothing was measured.
 */
#include "report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define VALUE_TEXT 48

/* As on the command line. An axis that a file of before does not have is at its default. */
static const char *value_text(enum axis_id id, const json_t *value, char text[VALUE_TEXT])
{
	if (id == AXIS_PATH && json_is_string(value) && !strcmp(json_string_value(value), "other"))
		return "dpdk";
	if (json_is_string(value))
		return json_string_value(value);
	if (json_is_boolean(value))
		return json_is_true(value) ? "yes" : "no";
	if (json_is_integer(value))
		snprintf(text, VALUE_TEXT, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
	else if (json_is_real(value))
		snprintf(text, VALUE_TEXT, "%.9g", json_real_value(value));
	else
		return plan_default(id);
	return text;
}

static int read_case(const json_t *run, struct bench_case *what, char message[BENCH_MESSAGE])
{
	*what = (struct bench_case){0};
	for (int id = 0; id < AXIS_IDS; id++) {
		char text[VALUE_TEXT];
		struct axis_list list;
		int error = axis_parse(id,
			value_text(id, json_object_get(run, axes[id].field), text), &list, message);

		if (error)
			return error;
		axis_set(id, list.values[0], what);
	}
	what->asked_size = (uint32_t)json_integer_value(json_object_get(run, "packet_size_asked"));
	return 0;
}

static struct spread read_spread(const json_t *from, double otherwise)
{
	const char *const names[] = {"median", "min", "max"};
	double values[3];

	for (int i = 0; i < 3; i++) {
		const json_t *value = json_object_get(from, names[i]);

		values[i] = json_is_number(value) ? json_number_value(value) : otherwise;
	}
	return (struct spread){.median = values[0], .min = values[1], .max = values[2]};
}

static void read_figures(const json_t *run, struct measurement *one)
{
	static const char *const names[] = {"p50_ns", "p99_ns", "p99_9_ns"};
	const json_t *latency = json_object_get(run, "latency");
	const char *path = json_string_value(json_object_get(run, "path"));

	one->outcome =
		json_is_true(json_object_get(run, "valid")) ? OUTCOME_FIGURE : OUTCOME_REFUSED;
	one->synthetic = json_is_true(json_object_get(run, "synthetic"));
	one->unasked = path && !strcmp(path, "other");
	one->ns = read_spread(json_object_get(run, "ns_spread"),
		json_number_value(json_object_get(run, "ns_per_packet")));
	one->bound_ns = read_spread(json_object_get(run, "bound_ns_spread"),
		json_number_value(json_object_get(run, "bound_ns_per_packet")));
	one->has_latency = json_is_object(latency);
	for (size_t i = 0; i < 3; i++)
		one->latency_ns[i] = read_spread(json_object_get(latency, names[i]), 0);
}

/* Runs of one sweep follow each other; what its path could not have is under "skipped". */
static const struct sweep *sweep_of(const json_t *run)
{
	const char *name = json_string_value(json_object_get(run, "sweep"));

	return name ? sweep_find(name) : NULL;
}

static int group_read(struct past *past, const struct sweep *sweep, const json_t *list,
	char message[BENCH_MESSAGE])
{
	struct plan *plan = &past->plan;
	const json_t *run;
	size_t index;

	json_array_foreach (list, index, run) {
		int error;

		if (sweep_of(run) != sweep)
			continue;
		error = read_case(run, &plan->cases[plan->case_count], message);
		if (error)
			return error;
		past->measurements[plan->case_count].what = &plan->cases[plan->case_count];
		read_figures(run, &past->measurements[plan->case_count]);
		plan->case_count++;
	}
	return 0;
}

static bool has_sweep(const json_t *list, const struct sweep *sweep)
{
	const json_t *run;
	size_t index;

	json_array_foreach (list, index, run)
		if (sweep_of(run) == sweep)
			return true;
	return false;
}

static int groups_read(
	struct past *past, const json_t *runs, const json_t *skipped, char message[BENCH_MESSAGE])
{
	struct plan *plan = &past->plan;

	for (size_t i = 0; i <= sweep_count; i++) {
		const struct sweep *sweep = i < sweep_count ? &sweeps[i] : NULL;
		struct plan_group *group = &plan->groups[plan->group_count];
		int error;

		if (!has_sweep(runs, sweep))
			continue;
		*group = (struct plan_group){.sweep = sweep, .first = plan->case_count};
		error = group_read(past, sweep, runs, message);
		if (!error)
			error = group_read(past, sweep, skipped, message);
		if (error)
			return error;
		group->count = plan->case_count - group->first;
		group->along = sweep ? sweep->along : plan_along(plan, group);
		plan->group_count++;
	}
	return 0;
}

static int past_make(struct past *past, const json_t *json, char message[BENCH_MESSAGE])
{
	const json_t *machine = json_object_get(json, "machine");
	const json_t *runs = json_object_get(json, "runs");
	const json_t *skipped = json_object_get(json, "skipped");
	const char *cpu = json_string_value(json_object_get(machine, "cpu"));
	size_t count = json_array_size(runs) + json_array_size(skipped);

	if (!json_array_size(runs)) {
		snprintf(message, BENCH_MESSAGE, "it has no \"runs\"");
		return -EINVAL;
	}
	past->plan.cases = calloc(count, sizeof(*past->plan.cases));
	past->measurements = calloc(count, sizeof(*past->measurements));
	if (!past->plan.cases || !past->measurements) {
		snprintf(message, BENCH_MESSAGE, "out of memory for %zu runs", count);
		return -ENOMEM;
	}
	snprintf(past->machine.cpu_model, sizeof(past->machine.cpu_model), "%.90s",
		cpu ? cpu : "unknown CPU");
	past->report = (struct report){.plan = &past->plan,
		.machine = &past->machine,
		.measurements = past->measurements,
		.rounds = (uint32_t)json_integer_value(json_object_get(machine, "rounds"))};
	return groups_read(past, runs, skipped, message);
}

int report_read(const char *path, struct past *past, char message[static BENCH_MESSAGE])
{
	json_error_t where;
	json_t *json = json_load_file(path, 0, &where);
	int error;

	*past = (struct past){0};
	if (!json) {
		snprintf(message, BENCH_MESSAGE, "%.160s", where.text);
		return -EINVAL;
	}
	error = past_make(past, json, message);
	json_decref(json);
	past->report.count = past->plan.case_count;
	if (error)
		past_free(past);
	return error;
}

void past_free(struct past *past)
{
	free(past->measurements);
	plan_free(&past->plan);
	*past = (struct past){0};
}
