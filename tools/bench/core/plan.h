/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which cases are measured: the product of the lists that the options give, or the points of named
 * sweeps, each a group that becomes one chart.
 */
#pragma once

#include "axis.h"
#include "bench.h"

#include <stdbool.h>
#include <stddef.h>

#define PLAN_SWEEPS_MAX 16

/* A sweep sets some axes, unless the command line does, and is drawn along one of them. */
struct sweep {
	const char *name;
	const char *title;
	enum axis_id along;
	bool log_x;
	bool latency;		   /* the chart shows latencies instead of time a packet */
	const char *set[AXIS_IDS]; /* as an option's value; NULL: as without a sweep */
};

extern const struct sweep sweeps[];
extern const size_t sweep_count;
const struct sweep *sweep_find(const char *name);

struct plan_group {
	const struct sweep *sweep; /* NULL: the options' own product */
	enum axis_id along;
	bool room_said;	     /* of the flow table; else it follows the flows, case by case */
	size_t first, count; /* cases */
};

struct plan {
	struct bench_case *cases;
	size_t case_count;
	struct plan_group groups[PLAN_SWEEPS_MAX];
	size_t group_count;
};

/*
 * Without sweeps one group. Lists without values take the default. 0, -ENOMEM, or -EINVAL with a
 * message when no case can be made of it (more pools than services). Free with plan_free.
 */
int plan_make(const struct axis_list lists[AXIS_IDS], const struct sweep *const *chosen,
	size_t chosen_count, struct plan *plan, char message[static BENCH_MESSAGE]);
/* What an axis is at when nothing is said. */
const char *plan_default(enum axis_id id);
/* The axis that a group without a sweep's name is drawn along: the one with most values. */
enum axis_id plan_along(const struct plan *plan, const struct plan_group *group);
void plan_free(struct plan *plan);
