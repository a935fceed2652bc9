/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Hot keys: requests for keys drawn by Zipf's law, once to each key's owner and once with bounded
 * loads (Mirrokni, Thorup, Zadimoghaddam, arXiv 1608.01350). `keys` counts requests; there are as
 * many distinct keys as a hundredth of them.
 */
#include "sim.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static double *zipf_table(uint64_t distinct, double skew)
{
	double *sums = grow(NULL, 0, sizeof(*sums) * distinct);
	double sum = 0;

	for (uint64_t i = 0; i < distinct; i++)
		sums[i] = sum += pow((double)(i + 1), -skew);
	return sums;
}

static uint64_t zipf_draw(struct sim *sim, const double *sums, uint64_t distinct)
{
	double at = (double)sim_random(sim, 1ull << 53) / (double)(1ull << 53) * sums[distinct - 1];
	uint64_t low = 0, high = distinct - 1;

	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (sums[middle] < at)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct hot {
	uint64_t *plain;   /* by position in the view */
	uint64_t *bounded; /* same */
	uint64_t elsewhere;
};

static int serve(struct sim *sim, const struct gw_chash_view *view, struct hot *hot)
{
	uint64_t distinct = sim->keys / 100 ? sim->keys / 100 : 1;
	double *sums = zipf_table(distinct, sim->args->zipf);
	int error = 0;

	for (uint64_t i = 0; !error && i < sim->keys; i++) {
		uint64_t value = sim->values[zipf_draw(sim, sums, distinct)];
		uint32_t owner, member;

		error = gw_chash_get_node_u64(view, value, &owner);
		if (!error)
			error = gw_chash_get_node_bounded_u64(
				view, value, hot->bounded, i, sim->args->factor, &member);
		if (error)
			break;
		hot->plain[owner]++;
		hot->bounded[member]++;
		hot->elsewhere += owner != member;
	}
	free(sums);
	return error;
}

static json_t *side(const struct gw_chash_view *view, const uint64_t *loads)
{
	json_t *object = json_object();
	uint64_t busiest, quietest;
	double stddev;

	for (uint32_t i = 0; i < gw_chash_view_count(view); i++)
		json_object_set_new(object, gw_chash_view_members(view)[i].id,
			json_integer((json_int_t)loads[i]));
	load_spread(loads, NULL, gw_chash_view_count(view), &busiest, &quietest, &stddev);
	return json_pack("{s:o,s:I,s:I,s:f}", "loads", object, "busiest", (json_int_t)busiest,
		"quietest", (json_int_t)quietest, "stddev", stddev);
}

static void draw(struct chart *chart, const struct gw_chash_view *view, const struct hot *hot)
{
	size_t plain, bounded;

	chart->title = "Hot keys: requests a member, plain against bounded loads";
	chart->bars = true;
	chart->x_label = "member";
	chart->y_label = "requests";
	plain = chart_add_series(chart, "plain");
	bounded = chart_add_series(chart, "bounded");
	for (uint32_t i = 0; i < gw_chash_view_count(view); i++) {
		chart_add_category(chart, gw_chash_view_members(view)[i].id);
		chart_add_point(chart, plain, i, (double)hot->plain[i]);
		chart_add_point(chart, bounded, i, (double)hot->bounded[i]);
	}
}

int scenario_hot_key(struct sim *sim, struct outcome *outcome)
{
	struct gw_chash_view *view = gw_chash_snapshot(sim->handle);
	size_t room = sizeof(uint64_t) * sim->room;
	struct hot hot = {.plain = grow(NULL, 0, room), .bounded = grow(NULL, 0, room)};
	struct placement last = {.keys = sim->keys, .room = sim->room};
	double begin = seconds_now();
	int error;

	memset(hot.plain, 0, room);
	memset(hot.bounded, 0, room);
	error = serve(sim, view, &hot);
	outcome->seconds = seconds_now() - begin;
	if (!error) {
		/* outcome_take counts by member number, the view by sorted id. */
		last.loads = grow(NULL, 0, room);
		memset(last.loads, 0, room);
		for (uint32_t i = 0; i < gw_chash_view_count(view); i++)
			last.loads[strtoul(gw_chash_view_members(view)[i].id + strlen("node-"),
				NULL, 10)] = hot.bounded[i];
		outcome_take(outcome, sim, NULL, &last);
		outcome->moved = hot.elsewhere;
		outcome->extra = json_pack("{s:f,s:f,s:f,s:o,s:o}", "factor", sim->args->factor,
			"zipf", sim->args->zipf, "bound",
			ceil(sim->args->factor * (double)sim->keys / sim->members), "plain",
			side(view, hot.plain), "bounded", side(view, hot.bounded));
		draw(&outcome->chart, view, &hot);
		placement_free(&last);
	}
	free(hot.plain);
	free(hot.bounded);
	gw_chash_view_unref(view);
	return error;
}
