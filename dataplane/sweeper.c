/* SPDX-License-Identifier: BSD-2-Clause */
#include "sweeper.h"

#include "engine.h"
#include "memory.h"

#include <rte_lcore.h>
#include <rte_pause.h>

#include <errno.h>
#include <stdlib.h>
#include <time.h>

/* One whole walk takes about so long, in steps; 16 million flows are then 27 MB a second. */
#define WALK_SECONDS 5
#define STEP_MS	     20
#define STEPS	     (WALK_SECONDS * 1000 / STEP_MS)
_Static_assert(WALK_SECONDS < GW_FLOW_SWEEP_INTERVAL, "walks come often enough for the stamps");

struct gw_sweeper {
	struct gw_engine *engine;
	pthread_t thread;
	bool stop;	  /* written by main (atomic) */
	uint32_t *counts; /* [GW_MAX_BACKENDS], of the walk under way */
	struct gw_flow_sweep sweep;
	uint64_t *marks; /* of `sweep` */
};

#define COUNTS_SIZE (GW_MAX_BACKENDS * sizeof(uint32_t))

uint64_t gw_sweep(struct gw_engine *engine, struct gw_flow_sweep *sweep, uint32_t first,
	uint32_t end, uint32_t now, uint32_t *counts)
{
	const struct gw_flow_timeouts *timeouts = gw_engine_timeouts(engine);
	uint64_t active = 0;

	if (!timeouts)
		return 0;
	for (uint32_t b = first; b < end; b++) {
		uint64_t *word = engine->flows.bucket[b].word;

		rte_prefetch0(&engine->flows.bucket[b + 8 < end ? b + 8 : b]);
		for (int i = 0; i < GW_FLOW_BUCKET_WORDS; i++) {
			uint64_t live = gw_flow_sweep_word(sweep, b, &word[i], now, timeouts);

			if (live == GW_FLOW_EMPTY)
				continue;
			counts[gw_flow_backend(live)]++;
			active++;
		}
	}
	return active;
}

/* The counts of a whole walk, where main reads them. */
static void publish(struct gw_sweeper *sweeper, uint64_t active)
{
	struct gw_engine *engine = sweeper->engine;

	for (uint32_t i = 0; i < GW_MAX_BACKENDS; i++) {
		if (__atomic_load_n(&engine->backend_flows[i], __ATOMIC_RELAXED) !=
			sweeper->counts[i])
			__atomic_store_n(
				&engine->backend_flows[i], sweeper->counts[i], __ATOMIC_RELAXED);
		if (sweeper->counts[i])
			sweeper->counts[i] = 0;
	}
	__atomic_store_n(&engine->flows_active, active, __ATOMIC_RELAXED);
}

static void *sweeper_run(void *arg)
{
	struct gw_sweeper *sweeper = arg;
	struct gw_engine *engine = sweeper->engine;
	uint32_t buckets = engine->flows.buckets;
	uint32_t step = buckets / STEPS + 1;
	uint32_t at = 0;
	uint64_t active = 0;

	rte_rcu_qsbr_thread_register(engine->rcu, GW_RCU_SWEEPER);
	while (!__atomic_load_n(&sweeper->stop, __ATOMIC_RELAXED)) {
		uint32_t end = buckets - at > step ? at + step : buckets;

		rte_rcu_qsbr_thread_online(engine->rcu, GW_RCU_SWEEPER);
		active += gw_sweep(
			engine, &sweeper->sweep, at, end, gw_clock_seconds(), sweeper->counts);
		rte_rcu_qsbr_thread_offline(engine->rcu, GW_RCU_SWEEPER);
		at = end;
		if (at == buckets) {
			publish(sweeper, active);
			gw_flow_sweep_next(&sweeper->sweep, gw_clock_seconds());
			at = 0;
			active = 0;
		}
		nanosleep(&(struct timespec){.tv_nsec = STEP_MS * 1000000L}, NULL);
	}
	rte_rcu_qsbr_thread_unregister(engine->rcu, GW_RCU_SWEEPER);
	return NULL;
}

static void sweeper_free(struct gw_sweeper *sweeper)
{
	gw_memory_free(sweeper->counts, COUNTS_SIZE);
	free(sweeper->marks);
	free(sweeper);
}

int gw_sweeper_start(struct gw_sweeper **out, struct gw_engine *engine)
{
	struct gw_sweeper *sweeper = calloc(1, sizeof(*sweeper));
	uint32_t buckets = engine->flows.buckets;
	int error;

	if (!sweeper)
		return -ENOMEM;
	sweeper->engine = engine;
	sweeper->counts = gw_memory_alloc(COUNTS_SIZE, 0);
	sweeper->marks = calloc(2 * gw_flow_sweep_words(buckets), sizeof(*sweeper->marks));
	error = sweeper->counts && sweeper->marks ? 0 : -ENOMEM;
	if (!error) {
		gw_flow_sweep_start(&sweeper->sweep, buckets, sweeper->marks, gw_clock_seconds());
		error = rte_ctrl_thread_create(
			&sweeper->thread, "gw-sweeper", NULL, sweeper_run, sweeper);
	}
	if (error) {
		sweeper_free(sweeper);
		return error;
	}
	*out = sweeper;
	return 0;
}

void gw_sweeper_stop(struct gw_sweeper *sweeper)
{
	if (!sweeper)
		return;
	__atomic_store_n(&sweeper->stop, true, __ATOMIC_RELAXED);
	pthread_join(sweeper->thread, NULL);
	sweeper_free(sweeper);
}
