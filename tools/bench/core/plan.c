/* SPDX-License-Identifier: BSD-2-Clause */
#include "plan.h"

#include "abi/flow_word.h"
#include "chash/prime.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CASES_MAX 100000u

/* What is measured when nothing is said: short, and the same as the first table. */
static const char *const defaults[AXIS_IDS] = {
	[AXIS_PATH] = "dpdk,xdp",
	[AXIS_MODE] = "cpu",
	[AXIS_FAMILY] = "4",
	[AXIS_ENCAP] = "ipip",
	[AXIS_TRACKED] = "yes",
	[AXIS_SIZE] = "64",
	[AXIS_SERVICES] = "1",
	[AXIS_POOLS] = "1",
	[AXIS_BACKENDS] = "100",
	[AXIS_TABLE_SIZE] = "65537",
	[AXIS_NEW] = "0",
	[AXIS_TABLE_FLOWS] = "0",
	[AXIS_FILL] = "0",
	[AXIS_WORKERS] = "1",
	[AXIS_SWAPS] = "0",
	[AXIS_LOAD] = "0",
	[AXIS_RATE] = "0",
	[AXIS_IDLE] = "0",
	[AXIS_POLL] = "busy",
	[AXIS_FLOWS] = "1,64k,1M",
};

/* The given list, else the sweep's, else the default. */
static void list_choose(enum axis_id id, const struct axis_list *given, const struct sweep *sweep,
	struct axis_list *list)
{
	char message[BENCH_MESSAGE];
	const char *text = sweep && sweep->set[id] ? sweep->set[id] : defaults[id];

	if (given->count)
		*list = *given;
	else
		axis_parse(id, text, list, message);
}

/* A generated configuration would be refused as well, but with a place in it that nobody has seen.
 */
static int table_size_check(uint32_t size, char *message)
{
	uint32_t below = size, above = size;

	if (prime_check(size))
		return 0;
	while (!prime_check(below))
		below--;
	while (!prime_check(above))
		above++;
	snprintf(message, BENCH_MESSAGE,
		"--table-size: %u is not a prime; the nearest are %u and %u", size, below, above);
	return -EINVAL;
}

/* With `services_free` nobody has said how many services: there are enough for the pools. */
static int case_complete(struct bench_case *what, bool services_free, char *message)
{
	if (services_free && what->services < what->pools)
		what->services = what->pools;
	if (what->pools > what->services) {
		snprintf(message, BENCH_MESSAGE, "--pools: %u pools, but only %u services",
			what->pools, what->services);
		return -EINVAL;
	}
	if (what->backends > what->table_size) {
		snprintf(message, BENCH_MESSAGE,
			"--table-size: %u slots are too few for %u backends", what->table_size,
			what->backends);
		return -EINVAL;
	}
	if (what->family == BENCH_IPV6 && what->packet_size != BENCH_SIZE_IMIX &&
		what->packet_size < BENCH_SIZE_IPV6) {
		what->asked_size = what->packet_size;
		what->packet_size = BENCH_SIZE_IPV6;
	}
	what->table_flows = bench_table_flows(what);
	return table_size_check(what->table_size, message);
}

static size_t product_of(const struct axis_list lists[AXIS_IDS])
{
	size_t product = 1;

	for (int id = 0; id < AXIS_IDS && product <= CASES_MAX; id++)
		product *= lists[id].count;
	return product;
}

/* Case number `index` of the product; the last axis turns fastest. */
static void case_fill(const struct axis_list lists[AXIS_IDS], size_t index, struct bench_case *what)
{
	for (int id = AXIS_IDS - 1; id >= 0; id--) {
		axis_set(id, lists[id].values[index % lists[id].count], what);
		index /= lists[id].count;
	}
}

const char *plan_default(enum axis_id id)
{
	return defaults[id];
}

/* How many different values the axis has among the group's cases; asked sizes, for those. */
static size_t values_count(const struct plan *plan, const struct plan_group *group, enum axis_id id)
{
	const struct bench_case *cases = &plan->cases[group->first];
	struct axis_value seen[AXIS_VALUES_MAX];
	size_t count = 0;

	for (size_t i = 0; i < group->count && count < AXIS_VALUES_MAX; i++) {
		struct axis_value value = axis_asked(id, &cases[i]);
		size_t known = 0;

		while (known < count && !axis_same(seen[known], value))
			known++;
		if (known == count)
			seen[count++] = value;
	}
	return count;
}

enum axis_id plan_along(const struct plan *plan, const struct plan_group *group)
{
	enum axis_id best = AXIS_FLOWS;
	size_t most = values_count(plan, group, best);

	for (int id = AXIS_FAMILY; id < AXIS_IDS; id++) {
		size_t count = values_count(plan, group, id);

		if (count > most) {
			best = id;
			most = count;
		}
	}
	return best;
}

static int group_add(struct plan *plan, const struct axis_list given[AXIS_IDS],
	const struct sweep *sweep, char *message)
{
	struct axis_list lists[AXIS_IDS];
	struct plan_group *group = &plan->groups[plan->group_count];
	struct bench_case *grown;
	bool services_free = !given[AXIS_SERVICES].count && !(sweep && sweep->set[AXIS_SERVICES]);
	size_t count;

	for (int id = 0; id < AXIS_IDS; id++)
		list_choose(id, &given[id], sweep, &lists[id]);
	count = product_of(lists);
	if (plan->case_count + count > CASES_MAX) {
		snprintf(message, BENCH_MESSAGE,
			"the lists multiply into over %u cases: give shorter ones", CASES_MAX);
		return -EINVAL;
	}
	grown = reallocarray(plan->cases, plan->case_count + count, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	plan->cases = grown;
	*group = (struct plan_group){.sweep = sweep,
		.room_said = lists[AXIS_TABLE_FLOWS].count > 1 ||
			     lists[AXIS_TABLE_FLOWS].values[0].number > 0,
		.first = plan->case_count,
		.count = count};
	for (size_t i = 0; i < count; i++) {
		struct bench_case *what = &plan->cases[plan->case_count + i];
		int status;

		*what = (struct bench_case){0};
		case_fill(lists, i, what);
		status = case_complete(what, services_free, message);
		if (status)
			return status;
	}
	group->along = sweep ? sweep->along : plan_along(plan, group);
	plan->case_count += count;
	plan->group_count++;
	return 0;
}

int plan_make(const struct axis_list lists[AXIS_IDS], const struct sweep *const *chosen,
	size_t chosen_count, struct plan *plan, char message[static BENCH_MESSAGE])
{
	int status = 0;

	*plan = (struct plan){0};
	if (!chosen_count)
		status = group_add(plan, lists, NULL, message);
	for (size_t i = 0; i < chosen_count && !status; i++)
		status = group_add(plan, lists, chosen[i], message);
	if (status)
		plan_free(plan);
	return status;
}

void plan_free(struct plan *plan)
{
	free(plan->cases);
	*plan = (struct plan){0};
}
