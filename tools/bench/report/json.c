/* SPDX-License-Identifier: BSD-2-Clause */
#include "report.h"

#include <string.h>

static void append_warning(void *owner, const char *text)
{
	json_array_append_new(owner, json_string(text));
}

static const char *outcome_name(enum outcome outcome)
{
	static const char *const names[] = {
		[OUTCOME_FIGURE] = "figure",
		[OUTCOME_REFUSED] = "refused",
		[OUTCOME_UNSUPPORTED] = "unsupported",
		[OUTCOME_FAILED] = "failed",
	};

	return names[outcome];
}

/* A number where it is a count or a share, a boolean for "tracked", a word elsewhere. */
static json_t *axis_json(enum axis_id id, struct axis_value value)
{
	if (id == AXIS_TRACKED)
		return json_boolean(value.word[0] == 'y');
	if (id == AXIS_FAMILY)
		return json_integer(value.word[0] - '0');
	if (value.word)
		return json_string(value.word);
	if (axes[id].kind == AXIS_SHARE)
		return json_real(value.number);
	return json_integer((json_int_t)value.number);
}

static json_t *case_json(const struct measurement *measurement, const struct sweep *sweep)
{
	json_t *run = json_object();

	json_object_set_new(run, "sweep", sweep ? json_string(sweep->name) : json_null());
	for (int id = 0; id < AXIS_IDS; id++)
		json_object_set_new(
			run, axes[id].field, axis_json(id, measurement_axis(measurement, id)));
	return run;
}

static json_t *spread_json(const struct spread *spread)
{
	return json_pack("{s:f, s:f, s:f}", "median", spread->median, "min", spread->min, "max",
		spread->max);
}

static json_t *rounds_json(const struct measurement *measurement)
{
	json_t *rounds = json_array();

	for (size_t i = 0; i < measurement->round_count; i++) {
		const struct measure_round *round = &measurement->rounds[i];

		json_array_append_new(rounds, json_pack("{s:f, s:f}", "ns_per_packet", round->ns,
						      "bound_ns_per_packet", round->bound_ns));
	}
	return rounds;
}

static json_t *swap_cost_json(const struct measurement *measurement)
{
	const struct spread *cost = &measurement->swap_cost;

	return json_pack("{s:f, s:f, s:f, s:I, s:b}", "median_share", cost->median, "low",
		cost->min, "high", cost->max, "pairs", (json_int_t)measurement->swap_pairs,
		"decided", (int)pairs_decide(cost));
}

static void add_figures(json_t *run, const struct measurement *measurement)
{
	double ns = measurement->ns.median, bound = measurement->bound_ns.median;
	bool bounded = !measurement->unasked;

	json_object_update_new(
		run, json_pack("{s:f, s:f}", "mpps", measurement_mpps(ns), "ns_per_packet", ns));
	json_object_set_new(run, "bound_ns_per_packet", bounded ? json_real(bound) : json_null());
	json_object_set_new(run, "over_bound_ns", bounded ? json_real(ns - bound) : json_null());
	json_object_set_new(
		run, "bound_mpps", bound > 0 ? json_real(measurement_mpps(bound)) : json_null());
	json_object_set_new(run, "ratio_to_bound", bound > 0 ? json_real(bound / ns) : json_null());
	json_object_set_new(run, "cycles_per_packet",
		measurement->cycles.median > 0 ? json_real(measurement->cycles.median)
					       : json_null());
	/* The bound without touching the frames, as testpmd's io. */
	if (measurement->io_ns.median > 0) {
		json_object_set_new(run, "io_ns_per_packet", json_real(measurement->io_ns.median));
		json_object_set_new(run, "over_io_ns", json_real(ns - measurement->io_ns.median));
	}
	json_object_set_new(run, "flows_new_share",
		json_real((double)measurement->flows_new / (double)measurement->packets));
	json_object_set_new(run, "untracked_share",
		json_real((double)measurement->untracked / (double)measurement->packets));
	json_object_set_new(run, "ns_spread", spread_json(&measurement->ns));
	json_object_set_new(run, "bound_ns_spread", spread_json(&measurement->bound_ns));
	json_object_set_new(run, "rounds", rounds_json(measurement));
	if (measurement->swap_pairs)
		json_object_set_new(run, "swap_cost", swap_cost_json(measurement));
	json_object_set_new(run, "latency",
		measurement->has_latency
			? json_pack("{s:o, s:o, s:o, s:f, s:I, s:I}", "p50_ns",
				  spread_json(&measurement->latency_ns[0]), "p99_ns",
				  spread_json(&measurement->latency_ns[1]), "p99_9_ns",
				  spread_json(&measurement->latency_ns[2]), "max_ns",
				  measurement->latency_max_ns, "late",
				  (json_int_t)measurement->late, "never_sent",
				  (json_int_t)measurement->never_sent)
			: json_null());
}

/* The fields are there, so that a reader need not ask; no number is. */
static void add_no_figures(json_t *run)
{
	static const char *const names[] = {"mpps", "ns_per_packet", "cycles_per_packet",
		"bound_mpps", "bound_ns_per_packet", "over_bound_ns", "ratio_to_bound", "latency"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		json_object_set_new(run, names[i], json_null());
}

static json_t *details_json(const struct measurement *measurement)
{
	json_t *details;

	if (!measurement->described)
		return json_null();
	details = json_copy(measurement->described);
	json_object_update(details, measurement->found);
	return details;
}

static json_t *run_json(const struct measurement *measurement, const struct sweep *sweep)
{
	json_t *run = case_json(measurement, sweep);
	json_t *warnings = json_array();
	bool valid = measurement->outcome == OUTCOME_FIGURE;

	json_object_update_new(run,
		json_pack("{s:b, s:b, s:I, s:I, s:I, s:I, s:I, s:f, s:I, s:f}", "valid", valid,
			"synthetic", measurement->synthetic, "lost", (json_int_t)measurement->lost,
			"offered", (json_int_t)measurement->offered, "packets",
			(json_int_t)measurement->packets, "sampled",
			(json_int_t)measurement->sampled, "swaps", (json_int_t)measurement->swaps,
			"steal_share", measurement->steal_share, "preempted",
			(json_int_t)measurement->preempted, "slowed_share",
			measurement->samples ? (double)measurement->slowed / measurement->samples
					     : 0.0));
	if (valid) {
		add_figures(run, measurement);
		measurement_warn(measurement, append_warning, warnings);
	} else {
		add_no_figures(run);
		json_object_set_new(
			run, "outcome", json_string(outcome_name(measurement->outcome)));
		json_object_set_new(run, "why", json_string(measurement->why));
	}
	json_object_set_new(run, "warnings", warnings);
	if (measurement->what->asked_size)
		json_object_set_new(
			run, "packet_size_asked", json_integer(measurement->what->asked_size));
	json_object_set_new(run, "details", details_json(measurement));
	return run;
}

/* What each runner that was used says of itself, by path and mode; the first one's also flat. */
static json_t *runners_json(const struct report *report, json_t *machine)
{
	json_t *runners = json_object();

	for (size_t i = 0; i < report->count; i++) {
		const struct measurement *one = &report->measurements[i];
		char name[32];
		json_t *runner;

		if (!one->runner)
			continue;
		snprintf(name, sizeof(name), "%s/%s", one->runner->path, one->runner->mode);
		if (json_object_get(runners, name) && !one->described)
			continue;
		runner = json_pack("{s:s, s:s, s:s}", "what", one->runner->what, "bound",
			measurement_bound(one), "ports",
			one->synthetic ? "synthetic" : "network cards");
		if (one->described) {
			json_object_update(runner, one->described);
			json_object_update_missing(machine, one->described);
		}
		json_object_set_new(runners, name, runner);
	}
	return runners;
}

json_t *report_json(const struct report *report)
{
	json_t *machine = machine_json(report->machine);
	json_t *warnings = json_array(), *runs = json_array(), *skipped = json_array();
	bool dpdk = false, xdp = false;

	for (size_t g = 0; g < report->plan->group_count; g++) {
		const struct plan_group *group = &report->plan->groups[g];

		for (size_t i = group->first; i < group->first + group->count; i++) {
			const struct measurement *one = &report->measurements[i];

			if (i >= report->count)
				break;
			dpdk |= !strcmp(one->what->path, "dpdk");
			xdp |= !strcmp(one->what->path, "xdp");
			json_array_append_new(one->outcome == OUTCOME_UNSUPPORTED ? skipped : runs,
				run_json(one, group->sweep));
		}
	}
	machine_warn(report->machine, dpdk, xdp, report->huge_pages, append_warning, warnings);
	json_object_set_new(machine, "huge_pages", json_boolean(report->huge_pages));
	json_object_set_new(machine, "rounds", json_integer(report->rounds));
	json_object_set_new(machine, "seconds", json_real(report->seconds));
	json_object_set_new(machine, "warnings", warnings);
	json_object_set_new(machine, "runners", runners_json(report, machine));
	return json_pack("{s:o, s:o, s:o}", "machine", machine, "runs", runs, "skipped", skipped);
}
