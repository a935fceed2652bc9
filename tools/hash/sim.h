/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The ground of `simulate` and `compare`: a set of members node-0, node-1, … on one algorithm, a
 * set of keys key-0, key-1, …, and who owns which. A scenario changes the set and looks at what
 * moved.
 */
#pragma once

#include "args.h"
#include "chart/chart.h"

#include <jansson.h>

struct sim {
	const struct args *args;
	const struct gw_chash_traits *traits;
	struct gw_chash_options options;
	struct gw_chash *handle;
	uint64_t *values; /* the keys as the algorithm takes them */
	uint64_t keys;
	uint32_t members; /* at the start */
	uint32_t room;	  /* member numbers are below this */
	uint64_t random;
};

/* Who owns each key, and how many each member has, by member number. */
struct placement {
	uint32_t *owner;
	uint64_t *loads;
	uint64_t keys;
	uint32_t room;
};

/* What a scenario found. Freed with outcome_free. */
struct outcome {
	const char *algorithm;
	const char *scenario;
	uint32_t members_before;
	uint32_t members_after;
	uint64_t keys;
	uint64_t moved;
	double ideal;
	uint64_t *loads; /* afterwards, by member number; */
	bool *present;	 /* which numbers are members then */
	uint32_t room;
	size_t memory;	/* bytes of the view */
	double seconds; /* of the change itself */
	json_t *extra;	/* fields of this scenario alone, or NULL */
	struct chart chart;
};

/* A set of `members` nodes that may grow to `room`; 0 or an error of the library. */
int sim_open(struct sim *sim, const struct args *args, enum gw_chash_algorithm algorithm,
	uint32_t members, uint32_t room, uint64_t keys);
void sim_close(struct sim *sim);

int sim_add(struct sim *sim, uint32_t first, uint32_t count); /* in one update */
int sim_remove(struct sim *sim, uint32_t number);
int sim_weigh(struct sim *sim, uint32_t number, uint32_t weight);
bool sim_has(const struct sim *sim, uint32_t number);
uint32_t sim_count(const struct sim *sim);
uint64_t sim_random(struct sim *sim, uint64_t below);
/* A random member that may leave: the last one where only the end can. */
uint32_t sim_victim(struct sim *sim);

int placement_take(const struct sim *sim, struct placement *placement);
uint64_t placement_moved(const struct placement *before, const struct placement *after);
void placement_free(struct placement *placement);

/* Numbers the outcome needs of a final placement. */
void outcome_take(struct outcome *outcome, const struct sim *sim, const struct placement *before,
	const struct placement *after);
json_t *outcome_json(const struct outcome *outcome);
void outcome_print(const struct outcome *outcome);
void outcome_free(struct outcome *outcome);

void load_spread(const uint64_t *loads, const bool *present, uint32_t room, uint64_t *busiest,
	uint64_t *quietest, double *stddev);
double seconds_now(void);

/* One line of JSON to standard output. */
void json_print(const json_t *value);

/* Writes the chart of --svg; an exit status, after a message when it cannot be. */
int draw_chart(const struct chart *chart, const char *path);
/*
 * The end of a verb that made a list and a chart: prints the list with --json, writes the chart
 * with --svg, frees both. Passes on a `status` that is not EXIT_DONE, then only frees.
 */
int list_finish(const struct args *args, json_t *list, struct chart *chart, int status);

struct scenario {
	const char *name;
	const char *title;
	uint32_t members; /* defaults */
	uint64_t keys;
	uint32_t (*room)(const struct args *args, uint32_t members); /* NULL: members */
	int (*run)(struct sim *sim, struct outcome *outcome);
};

/* NULL when there is none of this name. */
const struct scenario *scenario_find(const char *name);
void scenario_list(void); /* names to standard error */

/* Runs it on one algorithm; 0 or an error of the library, nothing printed. */
int scenario_run(const struct scenario *scenario, const struct args *args,
	enum gw_chash_algorithm algorithm, struct outcome *outcome);

/* Special ones with output of their own. */
int ring_experiment_run(const struct args *args);
int vnodes_run(const struct args *args);
int disruption_run(const struct args *args);

/* scenario_set.c, scenario_time.c, scenario_load.c */
int scenario_grow(struct sim *sim, struct outcome *outcome);
int scenario_shrink(struct sim *sim, struct outcome *outcome);
int scenario_fail_random(struct sim *sim, struct outcome *outcome);
int scenario_weight_change(struct sim *sim, struct outcome *outcome);
int scenario_storm(struct sim *sim, struct outcome *outcome);
int scenario_flap(struct sim *sim, struct outcome *outcome);
int scenario_cascade(struct sim *sim, struct outcome *outcome);
int scenario_hot_key(struct sim *sim, struct outcome *outcome);
