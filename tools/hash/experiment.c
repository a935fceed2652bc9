/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Experiments with output of their own: the exact ring experiment, load by virtual nodes, and
 * Maglev's disruption by failures (Eisenbud et al., NSDI 2016, figure 12).
 */
#include "hash.h"
#include "sim.h"

#include <stdio.h>
#include <string.h>

enum { RING_KEYS = 10000, RING_BEFORE = 4, RING_AFTER = 5 };

struct ring_result {
	uint32_t owner[RING_KEYS];
	uint64_t loads[RING_AFTER];
};

static int ring_place(struct gw_chash *handle, struct ring_result *result)
{
	struct gw_chash_view *view = gw_chash_snapshot(handle);
	int error = 0;

	memset(result->loads, 0, sizeof(result->loads));
	for (uint32_t i = 0; !error && i < RING_KEYS; i++) {
		char key[24];
		int length = snprintf(key, sizeof(key), "user:%u", i);

		error = gw_chash_get_node(view, key, (size_t)length, &result->owner[i]);
		if (!error)
			result->loads[result->owner[i]]++;
	}
	gw_chash_view_unref(view);
	return error;
}

/* Members A to D, then E: ids sort as they come, so positions in the view are the letters. */
static int ring_case(enum gw_chash_algorithm algorithm, uint32_t vnodes, struct ring_result *before,
	struct ring_result *after)
{
	static const char *const names[RING_AFTER] = {"A", "B", "C", "D", "E"};
	struct gw_chash_options options;
	struct gw_chash *handle;
	int error;

	gw_chash_options_init(&options, algorithm);
	options.hash = GW_CHASH_MD5;
	if (vnodes)
		options.vnodes = vnodes;
	error = gw_chash_create(&options, &handle);
	if (error)
		return error;
	for (int i = 0; !error && i < RING_BEFORE; i++)
		error = gw_chash_add_node(handle, names[i], 1, NULL);
	if (!error)
		error = ring_place(handle, before);
	if (!error)
		error = gw_chash_add_node(handle, names[RING_BEFORE], 1, NULL);
	if (!error)
		error = ring_place(handle, after);
	gw_chash_destroy(handle);
	return error;
}

static json_t *ring_json(const char *algorithm, uint32_t vnodes, const struct ring_result *before,
	const struct ring_result *after)
{
	json_t *loads = json_object();
	uint64_t moved = 0, busiest, quietest;
	double stddev, ideal = (double)RING_KEYS / RING_AFTER;

	for (int i = 0; i < RING_KEYS; i++)
		moved += before->owner[i] != after->owner[i];
	for (int i = 0; i < RING_AFTER; i++) {
		char name[2] = {(char)('A' + i), '\0'};

		json_object_set_new(loads, name, json_integer((json_int_t)after->loads[i]));
	}
	load_spread(after->loads, NULL, RING_AFTER, &busiest, &quietest, &stddev);
	return json_pack("{s:s,s:s,s:i,s:i,s:i,s:i,s:I,s:f,s:f,s:I,s:I,s:f,s:o}", "algorithm",
		algorithm, "scenario", "ring-experiment", "vnodes", (int)vnodes, "members_before",
		RING_BEFORE, "members_after", RING_AFTER, "keys", RING_KEYS, "moved",
		(json_int_t)moved, "ideal", ideal, "excess", (double)moved - ideal, "busiest",
		(json_int_t)busiest, "quietest", (json_int_t)quietest, "stddev", stddev, "loads",
		loads);
}

static void ring_print(const json_t *list)
{
	size_t i;
	json_t *row;

	printf("%-10s %7s %7s   %s\n", "scheme", "points", "moved",
		"loads of A B C D E afterwards");
	json_array_foreach (list, i, row) {
		const char *name;
		json_t *load;

		printf("%-10s %7lld %7lld  ", json_string_value(json_object_get(row, "algorithm")),
			(long long)json_integer_value(json_object_get(row, "vnodes")),
			(long long)json_integer_value(json_object_get(row, "moved")));
		json_object_foreach (json_object_get(row, "loads"), name, load)
			printf(" %lld", (long long)json_integer_value(load));
		putchar('\n');
	}
}

int ring_experiment_run(const struct args *args)
{
	static const struct {
		enum gw_chash_algorithm algorithm;
		const char *name;
		uint32_t vnodes;
	} cases[] = {{GW_CHASH_MODULO, "modulo", 0}, {GW_CHASH_RING, "ring", 1},
		{GW_CHASH_RING, "ring", 100}};
	static struct ring_result before, after;
	struct chart chart = {.title = "10,000 keys, members A to D, then E",
		.subtitle = "keys that moved; the ideal is 2,000",
		.bars = true,
		.x_label = "scheme",
		.y_label = "keys moved"};
	size_t series = chart_add_series(&chart, "moved");
	json_t *list = json_array();
	int status = EXIT_DONE;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int error = ring_case(cases[i].algorithm, cases[i].vnodes, &before, &after);
		json_t *row;
		char label[32];

		if (error) {
			complain(
				"ring-experiment: %s: %s", cases[i].name, gw_chash_strerror(error));
			status = EXIT_FAILED;
			break;
		}
		row = ring_json(cases[i].name, cases[i].vnodes, &before, &after);
		snprintf(label, sizeof(label), !cases[i].vnodes ? "%s" : "%s, points each: %u",
			cases[i].name, cases[i].vnodes);
		chart_add_category(&chart, label);
		chart_add_point(&chart, series, (double)i,
			(double)json_integer_value(json_object_get(row, "moved")));
		json_array_append_new(list, row);
	}
	if (!status && !args->json)
		ring_print(list);
	return list_finish(args, list, &chart, status);
}

/* Busiest and quietest share by the number of points a member has. */
int vnodes_run(const struct args *args)
{
	static const uint32_t points[] = {1, 2, 5, 10, 20, 50, 100, 150, 200, 500, 1000};
	uint32_t members = args->members ? args->members : 8;
	struct chart chart = {
		.title = "Load of the busiest and the quietest member by virtual nodes",
		.subtitle = "ring; the ideal share is 100 % / members",
		.x_label = "points a member",
		.y_label = "share of keys (%)",
		.log_x = true};
	size_t busy = chart_add_series(&chart, "busiest"),
	       quiet = chart_add_series(&chart, "quietest"),
	       ideal = chart_add_series(&chart, "ideal");
	json_t *list = json_array();
	int status = EXIT_DONE;

	for (size_t i = 0; !status && i < sizeof(points) / sizeof(points[0]); i++) {
		struct args one = *args;
		struct sim sim;
		struct placement placement;
		uint64_t busiest, quietest, keys = args->key_total ? args->key_total : 100000;
		double stddev;
		int error;

		one.options.vnodes = points[i];
		one.vnodes_given = true;
		error = sim_open(&sim, &one, GW_CHASH_RING, members, members, keys);
		if (!error) {
			error = placement_take(&sim, &placement);
			if (error)
				sim_close(&sim);
		}
		if (error) {
			complain("vnodes %u: %s", points[i], gw_chash_strerror(error));
			status = EXIT_FAILED;
			break;
		}
		load_spread(placement.loads, NULL, members, &busiest, &quietest, &stddev);
		chart_add_point(&chart, busy, points[i], 100.0 * (double)busiest / (double)keys);
		chart_add_point(&chart, quiet, points[i], 100.0 * (double)quietest / (double)keys);
		chart_add_point(&chart, ideal, points[i], 100.0 / members);
		json_array_append_new(
			list, json_pack("{s:s,s:s,s:i,s:i,s:I,s:I,s:I,s:f}", "algorithm", "ring",
				      "scenario", "vnodes", "vnodes", (int)points[i],
				      "members_before", (int)members, "keys", (json_int_t)keys,
				      "busiest", (json_int_t)busiest, "quietest",
				      (json_int_t)quietest, "stddev", stddev));
		if (!args->json)
			printf("%5u points: busiest %6.2f%%  quietest %6.2f%%  ideal %.2f%%\n",
				points[i], 100.0 * (double)busiest / (double)keys,
				100.0 * (double)quietest / (double)keys, 100.0 / members);
		placement_free(&placement);
		sim_close(&sim);
	}
	return list_finish(args, list, &chart, status);
}

/* Share of slots whose member changed, by id: positions shift when members leave. */
static double slots_changed(const struct gw_chash_view *before, const struct gw_chash_view *after)
{
	struct gw_chash_slots a, b;
	uint32_t changed = 0;

	if (gw_chash_view_slots(before, &a) || gw_chash_view_slots(after, &b))
		return 0;
	for (uint32_t i = 0; i < a.size; i++)
		changed += strcmp(gw_chash_view_members(before)[slot_at(&a, i)].id,
				   gw_chash_view_members(after)[slot_at(&b, i)].id) != 0;
	return (double)changed / a.size;
}

int disruption_run(const struct args *args)
{
	static const double failures[] = {0.1, 0.5, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
	uint32_t members = args->members ? args->members : 1000;
	struct chart chart = {.title = "Maglev: slots changed by concurrent failures",
		.subtitle = "after figure 12 of Eisenbud et al., NSDI 2016",
		.x_label = "members failing (%)",
		.y_label = "slots changed (%)"};
	size_t changed = chart_add_series(&chart, "changed"),
	       ideal = chart_add_series(&chart, "ideal");
	json_t *list = json_array();
	int status = EXIT_DONE;

	for (size_t i = 0; !status && i < sizeof(failures) / sizeof(failures[0]); i++) {
		uint32_t fail = (uint32_t)(members * failures[i] / 100 + 0.5);
		struct gw_chash_view *before, *after;
		struct sim sim;
		double share;
		int error = sim_open(&sim, args, GW_CHASH_MAGLEV, members, members, 1);

		if (error) {
			complain("maglev, %u members: %s", members, gw_chash_strerror(error));
			status = EXIT_FAILED;
			break;
		}
		fail = fail ? fail : 1;
		before = gw_chash_snapshot(sim.handle);
		for (uint32_t k = 0; !error && k < fail && k + 1 < members; k++)
			error = sim_remove(&sim, sim_victim(&sim));
		after = gw_chash_snapshot(sim.handle);
		share = slots_changed(before, after);
		gw_chash_view_unref(before);
		gw_chash_view_unref(after);
		sim_close(&sim);
		chart_add_point(&chart, changed, failures[i], 100 * share);
		chart_add_point(&chart, ideal, failures[i], 100.0 * fail / members);
		json_array_append_new(list,
			json_pack("{s:s,s:s,s:i,s:i,s:I,s:f,s:f}", "algorithm", "maglev",
				"scenario", "disruption", "members_before", (int)members, "failed",
				(int)fail, "size", (json_int_t)args->options.size, "changed_share",
				share, "ideal_share", (double)fail / members));
		if (!args->json)
			printf("%4u of %u fail: %6.2f%% of slots change (ideal %.2f%%)\n", fail,
				members, 100 * share, 100.0 * fail / members);
	}
	return list_finish(args, list, &chart, status);
}
