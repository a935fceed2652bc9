/* SPDX-License-Identifier: BSD-2-Clause */
/* Scenarios with a course: members that flap, and overload that runs from one member to the next.
 */
#include "sim.h"

#include <string.h>

enum { FLAPS = 20, GRACE_SECONDS = 10, OUTAGE_MAX_SECONDS = 20 };

/*
 * FLAPS times a member is away for 1 to 20 seconds. Without grace each time its keys leave and come
 * back; with a grace period of 10 seconds the shorter outages change nothing (its keys fail
 * meanwhile instead).
 */
int scenario_flap(struct sim *sim, struct outcome *outcome)
{
	struct placement start, away = {0}, back = {0};
	uint64_t without = 0, with = 0, unserved = 0;
	double begin = seconds_now();
	int error = placement_take(sim, &start);

	if (sim->members < 2)
		error = error ? error : GW_CHASH_ERR_ARGUMENT;
	for (int i = 0; !error && i < FLAPS; i++) {
		uint32_t number = sim_victim(sim);
		uint64_t outage = 1 + sim_random(sim, OUTAGE_MAX_SECONDS);
		uint64_t round;

		error = sim_remove(sim, number);
		if (!error)
			error = placement_take(sim, &away);
		if (!error)
			error = sim_add(sim, number, 1);
		if (!error)
			error = placement_take(sim, &back);
		if (error)
			break;
		round = placement_moved(&start, &away) + placement_moved(&away, &back);
		without += round;
		if (outage > GRACE_SECONDS)
			with += round;
		else
			unserved += start.loads[number];
		placement_free(&away);
		placement_free(&start);
		start = back;
		memset(&back, 0, sizeof(back));
	}
	outcome->seconds = seconds_now() - begin;
	if (!error) {
		outcome_take(outcome, sim, NULL, &start);
		outcome->moved = without;
		outcome->ideal = 2.0 * FLAPS * (double)sim->keys / sim->members;
		outcome->extra = json_pack("{s:i,s:i,s:I,s:I,s:I}", "flaps", FLAPS, "grace_seconds",
			GRACE_SECONDS, "moved_without_grace", (json_int_t)without,
			"moved_with_grace", (json_int_t)with, "keys_waiting_in_grace",
			(json_int_t)unserved);
	}
	placement_free(&away);
	placement_free(&start);
	return error;
}

/* Removes every member above its capacity; how many fell, or an error. */
static int fell(struct sim *sim, const struct placement *placement, double capacity, json_t *names)
{
	int count = 0;

	for (uint32_t i = 0; i < sim->room; i++) {
		if ((double)placement->loads[i] <= capacity || !sim_has(sim, i))
			continue;
		if (sim_count(sim) == 1)
			return count;
		int error = sim_remove(sim, i);

		if (error)
			return error;
		json_array_append_new(names, json_sprintf("node-%u", i));
		count++;
	}
	return count;
}

/*
 * Each member bears `factor` times the average. One dies; its keys go to the others; who is now
 * above its capacity dies as well, until nobody does or one is left.
 */
int scenario_cascade(struct sim *sim, struct outcome *outcome)
{
	struct placement before, now = {0};
	double capacity = sim->args->factor * (double)sim->keys / sim->members;
	json_t *steps = json_array();
	size_t series = 0;
	double begin = seconds_now();
	int error = placement_take(sim, &before);
	int count = 1;

	if (!error) {
		outcome->chart.title = "Cascade: members left after each step";
		outcome->chart.x_label = "step";
		outcome->chart.whole_x = true;
		outcome->chart.y_label = "members left";
		series = chart_add_series(&outcome->chart, outcome->algorithm);
		chart_add_point(&outcome->chart, series, 0, sim->members);
		error = sim->members < 2 ? GW_CHASH_ERR_ARGUMENT : sim_remove(sim, sim_victim(sim));
	}
	for (int step = 1; !error && count > 0; step++) {
		json_t *names = json_array();

		chart_add_point(&outcome->chart, series, step, sim_count(sim));
		placement_free(&now);
		error = placement_take(sim, &now);
		count = error ? error : fell(sim, &now, capacity, names);
		if (count < 0)
			error = count;
		json_array_append_new(steps, names);
	}
	outcome->seconds = seconds_now() - begin;
	if (!error) {
		placement_free(&now);
		error = placement_take(sim, &now);
	}
	if (!error) {
		outcome_take(outcome, sim, &before, &now);
		outcome->ideal = (double)sim->keys / sim->members;
		outcome->extra = json_pack("{s:f,s:f,s:O,s:i}", "factor", sim->args->factor,
			"capacity", capacity, "steps", steps, "survivors", (int)sim_count(sim));
	}
	json_decref(steps);
	placement_free(&before);
	placement_free(&now);
	return error;
}
