/* SPDX-License-Identifier: BSD-2-Clause */
/* `simulate` and `compare`: the table of scenarios, and one or all algorithms through one of them.
 */
#include "hash.h"
#include "sim.h"

#include <stdio.h>
#include <string.h>

static uint32_t room_grow(const struct args *args, uint32_t members)
{
	return args->to ? args->to : members + 1;
}

static uint32_t room_storm(const struct args *args, uint32_t members)
{
	return args->to ? args->to : members + (members / 5 ? members / 5 : 1);
}

static const struct scenario scenarios[] = {
	{"grow", "Keys moved when members are added", 8, 100000, room_grow, scenario_grow},
	{"shrink", "Keys moved when members are taken away", 9, 100000, NULL, scenario_shrink},
	{"fail-random", "Keys moved when random members fail", 20, 100000, NULL,
		scenario_fail_random},
	{"weight-change", "Keys moved when one weight doubles", 10, 100000, NULL,
		scenario_weight_change},
	{"flap", "Keys moved while members come and go", 10, 100000, NULL, scenario_flap},
	{"cascade", "Keys moved by a cascade of overload", 10, 100000, NULL, scenario_cascade},
	{"hot-key", "Requests served elsewhere under bounded loads", 10, 100000, NULL,
		scenario_hot_key},
	{"storm", "Keys moved when many members come at once", 50, 100000, room_storm,
		scenario_storm},
};

static const struct {
	const char *name;
	int (*run)(const struct args *args);
} experiments[] = {
	{"ring-experiment", ring_experiment_run},
	{"vnodes", vnodes_run},
	{"disruption", disruption_run},
};

static bool is_experiment(const char *name)
{
	for (size_t i = 0; i < sizeof(experiments) / sizeof(experiments[0]); i++)
		if (!strcmp(experiments[i].name, name))
			return true;
	return false;
}

const struct scenario *scenario_find(const char *name)
{
	for (size_t i = 0; i < sizeof(scenarios) / sizeof(scenarios[0]); i++)
		if (!strcmp(scenarios[i].name, name))
			return &scenarios[i];
	return NULL;
}

void scenario_list(void)
{
	fputs("scenarios:", stderr);
	for (size_t i = 0; i < sizeof(scenarios) / sizeof(scenarios[0]); i++)
		fprintf(stderr, " %s", scenarios[i].name);
	for (size_t i = 0; i < sizeof(experiments) / sizeof(experiments[0]); i++)
		fprintf(stderr, " %s", experiments[i].name);
	fputc('\n', stderr);
}

int scenario_run(const struct scenario *scenario, const struct args *args,
	enum gw_chash_algorithm algorithm, struct outcome *outcome)
{
	uint32_t members = args->members ? args->members : scenario->members;
	uint32_t room = scenario->room ? scenario->room(args, members) : members;
	uint64_t keys = args->key_total ? args->key_total : scenario->keys;
	struct sim sim;
	int error;

	if (room < members)
		return GW_CHASH_ERR_ARGUMENT;
	error = sim_open(&sim, args, algorithm, members, room, keys);
	if (error)
		return error;
	*outcome = (struct outcome){.algorithm = sim.traits->name, .scenario = scenario->name};
	error = scenario->run(&sim, outcome);
	sim_close(&sim);
	if (error)
		outcome_free(outcome);
	return error;
}

static const struct scenario *choose(const struct args *args, int *status)
{
	const struct scenario *scenario;

	if (!args->scenario) {
		complain("--scenario is missing");
		scenario_list();
		*status = EXIT_USAGE;
		return NULL;
	}
	scenario = scenario_find(args->scenario);
	if (!scenario && is_experiment(args->scenario)) {
		complain("--scenario: '%s' is about algorithms of its own: it goes with simulate",
			args->scenario);
		*status = EXIT_USAGE;
	} else if (!scenario) {
		complain("--scenario: unknown scenario '%s'", args->scenario);
		scenario_list();
		*status = EXIT_USAGE;
	}
	return scenario;
}

/* The load of each member, for scenarios that draw nothing themselves. */
static void draw_loads(struct outcome *outcome, const char *title)
{
	struct chart *chart = &outcome->chart;
	size_t loads, average;

	if (chart->series_count)
		return;
	chart->title = title;
	chart->bars = true;
	chart->x_label = "member";
	chart->y_label = "keys";
	loads = chart_add_series(chart, outcome->algorithm);
	average = chart_add_series(chart, "average");
	for (uint32_t i = 0; i < outcome->room; i++) {
		char name[24];

		if (!outcome->present[i])
			continue;
		snprintf(name, sizeof(name), "node-%u", i);
		chart_add_category(chart, name);
		chart_add_point(chart, loads, i, (double)outcome->loads[i]);
		chart_add_point(chart, average, i, (double)outcome->keys / outcome->members_after);
	}
}

static int explain(const struct args *args, enum gw_chash_algorithm algorithm, int error)
{
	complain("%s, scenario %s: %s", gw_chash_traits(algorithm)->name, args->scenario,
		error == GW_CHASH_ERR_ARGUMENT ? "--members and --to do not fit this scenario"
					       : gw_chash_strerror(error));
	return error == GW_CHASH_ERR_ARGUMENT ? EXIT_USAGE : EXIT_FAILED;
}

int simulate_run(const struct args *args)
{
	const struct scenario *scenario;
	struct outcome outcome = {0};
	int status = EXIT_DONE;
	int error;

	for (size_t i = 0; args->scenario && i < sizeof(experiments) / sizeof(experiments[0]); i++)
		if (!strcmp(args->scenario, experiments[i].name))
			return experiments[i].run(args);
	scenario = choose(args, &status);
	if (!scenario)
		return status;
	error = scenario_run(scenario, args, args->options.algorithm, &outcome);
	if (error)
		return explain(args, args->options.algorithm, error);
	if (args->json) {
		json_t *out = outcome_json(&outcome);

		json_print(out);
		json_decref(out);
	} else {
		outcome_print(&outcome);
	}
	if (args->svg) {
		draw_loads(&outcome, scenario->title);
		status = draw_chart(&outcome.chart, args->svg);
	}
	outcome_free(&outcome);
	return status;
}

static void compare_row(const struct outcome *outcome)
{
	uint64_t busiest, quietest;
	double stddev, average = (double)outcome->keys /
				 (outcome->members_after ? outcome->members_after : 1);

	load_spread(outcome->loads, outcome->present, outcome->room, &busiest, &quietest, &stddev);
	printf("%-12s %10llu %8.3f%% %8.3f%% %9.3f %9.3f %9.3f %10.1f %9.3f\n", outcome->algorithm,
		(unsigned long long)outcome->moved,
		100 * (double)outcome->moved / (double)outcome->keys,
		100 * outcome->ideal / (double)outcome->keys, (double)busiest / average,
		(double)quietest / average, stddev / average, (double)outcome->memory / 1024,
		outcome->seconds * 1000);
}

/* One algorithm's part of `compare`; what is not defined on it is said and left out of the chart.
 */
static void compare_one(const struct args *args, const struct scenario *scenario, int algorithm,
	json_t *list, struct chart *chart)
{
	const char *name = gw_chash_traits(algorithm)->name;
	struct outcome outcome = {0};
	int error = scenario_run(scenario, args, algorithm, &outcome);

	if (error) {
		if (!args->json)
			printf("%-12s %s\n", name, gw_chash_strerror(error));
		json_array_append_new(
			list, json_pack("{s:s,s:s,s:s}", "algorithm", name, "scenario",
				      scenario->name, "error", gw_chash_strerror(error)));
		return;
	}
	if (!args->json)
		compare_row(&outcome);
	json_array_append_new(list, outcome_json(&outcome));
	chart_add_category(chart, name);
	chart_add_point(
		chart, 0, (double)algorithm, 100 * (double)outcome.moved / (double)outcome.keys);
	chart_add_point(chart, 1, (double)algorithm, 100 * outcome.ideal / (double)outcome.keys);
	outcome_free(&outcome);
}

int compare_run(const struct args *args)
{
	int status = EXIT_DONE;
	const struct scenario *scenario = choose(args, &status);
	struct chart chart = {.bars = true, .x_label = "algorithm", .y_label = "share of keys (%)"};
	char subtitle[96];
	json_t *list;

	if (!scenario)
		return status;
	chart.title = scenario->title;
	snprintf(subtitle, sizeof(subtitle), "%u members at the start, %llu keys",
		args->members ? args->members : scenario->members,
		(unsigned long long)(args->key_total ? args->key_total : scenario->keys));
	chart.subtitle = subtitle;
	chart_add_series(&chart, "moved");
	chart_add_series(&chart, "ideal");
	list = json_array();
	if (!args->json)
		printf("%-12s %10s %9s %9s %9s %9s %9s %10s %9s\n", "algorithm", "moved", "moved",
			"ideal", "busiest", "quietest", "stddev", "KiB", "ms");
	for (int algorithm = 0; algorithm < GW_CHASH_ALGORITHMS; algorithm++)
		compare_one(args, scenario, algorithm, list, &chart);
	return list_finish(args, list, &chart, status);
}
