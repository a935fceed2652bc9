/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fourth stage: flows without a place, or whose backend may not keep them, get the backend of their
 * slot in the pool's table, and are remembered. A full flow table does not stop a packet. What is
 * of a service that tracks no flows goes by the same slot, and is forgotten.
 */
#include "abi/flow_sample.h"
#include "abi/table_slot.h"
#include "departure.h"
#include "engine.h"
#include "pipeline.h"

/* First pass: the slot's number, fetched ahead. Drops what has no eligible backend. */
static void find_slots(struct gw_worker *worker, struct gw_burst *burst)
{
	const struct gw_view *view = worker->view;
	uint16_t kept = 0;

	for (uint16_t k = 0; k < burst->miss_count; k++) {
		uint8_t i = burst->miss[k];
		struct gw_result *result = &burst->result[i];
		const struct gw_view_pool *pool = &view->pool[view->service[result->service].pool];

		if (unlikely(!pool->slot)) {
			gw_result_drop(result, GW_DROP_NO_BACKEND);
			continue;
		}
		result->slot = gw_table_slot(gw_burst_hash(worker, burst, i), pool->table_size);
		rte_prefetch0(&pool->slot[result->slot]);
		burst->miss[kept++] = i;
	}
	burst->miss_count = kept;
}

/*
 * The flow turned out to be there after all: an earlier packet of this burst, or another worker,
 * put it there. It decides if its backend may keep the flow; else it is moved to ours.
 */
static void follow_found(struct gw_worker *worker, struct gw_result *result, uint32_t pool,
	uint32_t slot, uint64_t word)
{
	struct gw_flow_table *flows = &worker->engine->flows;

	if (gw_view_keeps_flow(worker->view, word, pool, result->event)) {
		result->backend = gw_flow_backend(word);
		result->slot = GW_NONE;
		result->flow = GW_TRACE_HIT;
		gw_flow_touch(flows, slot, word, result->event, worker->now);
	} else if (gw_flow_replace(flows, slot, word, result->backend, worker->now)) {
		result->flow = GW_TRACE_MOVED;
	} else {
		result->flow = GW_TRACE_UNTRACKED;
	}
}

static void sample(const struct gw_worker *worker, const struct gw_flow_key *key, uint64_t hash)
{
	struct gw_flow_sample *samples = worker->engine->samples;

	if (samples)
		gw_flow_sample_write(&samples[gw_flow_sample_place(key, hash)], key, worker->now);
}

static void remember(struct gw_worker *worker, struct gw_burst *burst, uint8_t i, uint32_t pool)
{
	struct gw_flow_table *flows = &worker->engine->flows;
	struct gw_result *result = &burst->result[i];
	uint32_t slot = burst->flow_slot[i];
	uint64_t word;

	if (slot != GW_FLOW_NOWHERE &&
		gw_flow_replace(flows, slot, burst->flow_word[i], result->backend, worker->now)) {
		result->flow = GW_TRACE_MOVED;
		return;
	}
	switch (gw_flow_insert(flows, burst->place[i], result->backend, worker->now,
		&worker->view->timeouts, &slot, &word)) {
	case GW_FLOW_INSERTED:
		result->flow = GW_TRACE_NEW;
		sample(worker, &burst->packet[i].key, result->hash);
		break;
	case GW_FLOW_FOUND:
		follow_found(worker, result, pool, slot, word);
		break;
	case GW_FLOW_FULL:
		result->flow = GW_TRACE_UNTRACKED;
		break;
	}
}

static void count_flow(struct gw_counters *counters, const struct gw_result *result)
{
	if (result->flow == GW_TRACE_NEW)
		gw_count(&counters->flows_new, 1);
	else if (result->flow == GW_TRACE_MOVED)
		gw_count(&counters->flows_moved, 1);
	else if (result->flow == GW_TRACE_UNTRACKED)
		gw_count(&counters->untracked, 1);
}

/* Takes out of burst->live what has been dropped. */
static void keep_chosen(struct gw_burst *burst)
{
	uint16_t kept = 0;

	for (uint16_t k = 0; k < burst->live_count; k++)
		if (burst->result[burst->live[k]].backend != GW_NONE)
			burst->live[kept++] = burst->live[k];
	burst->live_count = kept;
}

/*
 * The packets of services that track no flows: their slots, fetched ahead, then whom these name.
 * False when one was dropped.
 */
static bool choose_untracked(struct gw_worker *worker, struct gw_burst *burst)
{
	const struct gw_view *view = worker->view;
	uint64_t chosen = burst->untracked;

	for (uint64_t todo = burst->untracked; todo; todo &= todo - 1) {
		uint8_t i = (uint8_t)__builtin_ctzll(todo);
		struct gw_result *result = &burst->result[i];
		const struct gw_view_pool *pool = &view->pool[view->service[result->service].pool];

		if (unlikely(!pool->slot)) {
			gw_result_drop(result, GW_DROP_NO_BACKEND);
			chosen &= ~(1ull << i);
			continue;
		}
		result->slot = gw_table_slot(gw_burst_hash(worker, burst, i), pool->table_size);
		rte_prefetch0(&pool->slot[result->slot]);
	}
	for (uint64_t todo = chosen; todo; todo &= todo - 1) {
		struct gw_result *result = &burst->result[__builtin_ctzll(todo)];
		const struct gw_view_pool *pool = &view->pool[view->service[result->service].pool];

		result->backend = pool->member[pool->slot[result->slot]];
		result->flow = GW_TRACE_TABLE_ONLY;
		rte_prefetch0(&worker->departure[result->backend]);
	}
	return chosen == burst->untracked;
}

/* The flows that the flow table did not settle. */
static void choose_misses(struct gw_worker *worker, struct gw_burst *burst)
{
	const struct gw_view *view = worker->view;

	find_slots(worker, burst);
	for (uint16_t k = 0; k < burst->miss_count; k++) {
		uint8_t i = burst->miss[k];
		struct gw_result *result = &burst->result[i];
		uint32_t pool = view->service[result->service].pool;

		result->backend = view->pool[pool].member[view->pool[pool].slot[result->slot]];
		remember(worker, burst, i, pool);
		count_flow(&worker->stats.counters, result);
	}
}

void gw_stage_select(struct gw_worker *worker, struct gw_burst *burst)
{
	bool all_chosen = true;

	if (unlikely(burst->untracked))
		all_chosen = choose_untracked(worker, burst);
	if (unlikely(burst->miss_count)) {
		choose_misses(worker, burst);
		all_chosen = false;
	}
	if (unlikely(!all_chosen))
		keep_chosen(burst);
}
