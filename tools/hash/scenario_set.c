/* SPDX-License-Identifier: BSD-2-Clause */
/* Scenarios that change the set once: how many keys move, against how many would have to. */
#include "sim.h"

#include <errno.h>

/* Places the keys, lets `change` act, places them again. */
static int around(struct sim *sim, struct outcome *outcome,
	int (*change)(struct sim *sim, void *context), void *context)
{
	struct placement before, after;
	double start;
	int error = placement_take(sim, &before);

	if (error)
		return error;
	start = seconds_now();
	error = change(sim, context);
	outcome->seconds = seconds_now() - start;
	if (!error)
		error = placement_take(sim, &after);
	if (!error) {
		outcome_take(outcome, sim, &before, &after);
		placement_free(&after);
	}
	placement_free(&before);
	return error;
}

static int add_rest(struct sim *sim, void *context)
{
	(void)context;
	return sim_add(sim, sim->members, sim->room - sim->members);
}

int scenario_grow(struct sim *sim, struct outcome *outcome)
{
	outcome->ideal = (double)sim->keys * (sim->room - sim->members) / sim->room;
	return around(sim, outcome, add_rest, NULL);
}

static int remove_victims(struct sim *sim, void *context)
{
	uint32_t count = *(const uint32_t *)context;
	int error = 0;

	while (!error && count--)
		error = sim_remove(sim, sim_victim(sim));
	return error;
}

static int remove_to(struct sim *sim, struct outcome *outcome, uint32_t left)
{
	uint32_t count = sim->members - left;

	outcome->ideal = (double)sim->keys * count / sim->members;
	return around(sim, outcome, remove_victims, &count);
}

int scenario_shrink(struct sim *sim, struct outcome *outcome)
{
	uint32_t to = sim->args->to ? sim->args->to : sim->members - 1;

	if (to >= sim->members || !to)
		return GW_CHASH_ERR_ARGUMENT;
	return remove_to(sim, outcome, to);
}

/* A tenth of the members, at least one, wherever they stand. */
int scenario_fail_random(struct sim *sim, struct outcome *outcome)
{
	uint32_t fail = sim->members >= 20 ? sim->members / 10 : 1;
	uint32_t to = sim->args->to ? sim->args->to : sim->members - fail;

	if (to >= sim->members || !to)
		return GW_CHASH_ERR_ARGUMENT;
	if (sim->traits->end_only)
		return GW_CHASH_ERR_NOT_LAST;
	return remove_to(sim, outcome, to);
}

static int double_weight(struct sim *sim, void *context)
{
	return sim_weigh(sim, *(const uint32_t *)context, 2);
}

int scenario_weight_change(struct sim *sim, struct outcome *outcome)
{
	uint32_t number = sim_victim(sim);
	double n = sim->members;

	outcome->ideal = (double)sim->keys * (2 / (n + 1) - 1 / n);
	return around(sim, outcome, double_weight, &number);
}

/* The same members one at a time: what the keys moved in all, some of them again and again. */
static int one_by_one(const struct sim *like, uint64_t *moved)
{
	struct sim sim;
	struct placement last, next;
	int error = sim_open(
		&sim, like->args, like->options.algorithm, like->members, like->room, like->keys);

	if (error)
		return error;
	error = placement_take(&sim, &last);
	for (uint32_t i = like->members; !error && i < like->room; i++) {
		error = sim_add(&sim, i, 1);
		if (!error)
			error = placement_take(&sim, &next);
		if (error)
			break;
		*moved += placement_moved(&last, &next);
		placement_free(&last);
		last = next;
	}
	placement_free(&last);
	sim_close(&sim);
	return error;
}

int scenario_storm(struct sim *sim, struct outcome *outcome)
{
	uint64_t moved = 0;
	int error = scenario_grow(sim, outcome);

	if (!error)
		error = one_by_one(sim, &moved);
	if (!error)
		outcome->extra = json_pack("{s:I,s:I}", "one_batch_moved",
			(json_int_t)outcome->moved, "one_by_one_moved", (json_int_t)moved);
	return error;
}
