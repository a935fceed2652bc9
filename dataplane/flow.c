/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Third stage: a tracked flow stays where it is, as long as its backend may keep it
 * (gw_backend_keeps_flow). The rest is left in burst->miss for the next stage, and with it whatever
 * is of a service that tracks no flows.
 */
#include "engine.h"
#include "pipeline.h"

/* Takes what a look-up found, and fetches ahead the record of the backend that it names. */
static void note(const struct gw_worker *worker, struct gw_burst *burst, uint8_t i, uint32_t slot,
	uint64_t word)
{
	const struct gw_view *view = worker->view;

	if (slot != GW_FLOW_NOWHERE) {
		if (likely(!gw_flow_expired(word, worker->now, &view->timeouts))) {
			burst->flow_word[i] = word;
			rte_prefetch0(&view->backend[gw_flow_backend(word)]);
		} else {
			slot = GW_FLOW_NOWHERE;
		}
	}
	burst->flow_slot[i] = slot;
}

/*
 * Looks up each flow in its first bucket, which the stage before has fetched; then those that are
 * not there, in buckets from which flows have overflowed, in their second.
 */
static void find_flows(struct gw_worker *worker, struct gw_burst *burst, const uint8_t *tracked,
	uint16_t tracked_count)
{
	const struct gw_flow_table *flows = &worker->engine->flows;
	uint8_t second[GW_BURST_MAX];
	uint16_t count = 0;
	uint64_t word = GW_FLOW_EMPTY;

	for (uint16_t k = 0; k < tracked_count; k++) {
		uint8_t i = tracked[k];
		uint32_t slot = gw_flow_first(flows, burst->place[i], &word);

		if (unlikely(slot == GW_FLOW_SECOND))
			second[count++] = i;
		else
			note(worker, burst, i, slot, word);
	}
	for (uint16_t k = 0; k < count; k++) {
		uint32_t slot = gw_flow_second(flows, burst->place[second[k]], &word);

		note(worker, burst, second[k], slot, word);
	}
}

/*
 * Leaves the packets of services that track no flows to the next stage, and lists the others.
 * Returns how many these are.
 */
static uint16_t pass_untracked(struct gw_burst *burst, uint8_t tracked[GW_BURST_MAX])
{
	uint16_t count = 0;

	for (uint16_t k = 0; k < burst->live_count; k++) {
		uint8_t i = burst->live[k];

		if (burst->untracked >> i & 1)
			burst->miss[burst->miss_count++] = i;
		else
			tracked[count++] = i;
	}
	return count;
}

void gw_stage_flow(struct gw_worker *worker, struct gw_burst *burst)
{
	const struct gw_view *view = worker->view;
	const struct gw_live_hop *live = worker->engine->hops.live;
	const uint8_t *tracked = burst->live;
	uint16_t tracked_count = burst->live_count;
	uint8_t some[GW_BURST_MAX];

	burst->miss_count = 0;
	if (unlikely(burst->untracked)) {
		tracked_count = pass_untracked(burst, some);
		tracked = some;
	}
	find_flows(worker, burst, tracked, tracked_count);
	for (uint16_t k = 0; k < tracked_count; k++) {
		uint8_t i = tracked[k];
		struct gw_result *result = &burst->result[i];
		uint64_t word = burst->flow_word[i];
		uint32_t pool = view->service[result->service].pool;

		if (burst->flow_slot[i] == GW_FLOW_NOWHERE ||
			!gw_view_keeps_flow(view, word, pool, result->event)) {
			burst->miss[burst->miss_count++] = i;
			continue;
		}
		result->backend = gw_flow_backend(word);
		result->flow = GW_TRACE_HIT;
		rte_prefetch0(&live[view->backend[result->backend].next_hop]);
		gw_flow_touch(&worker->engine->flows, burst->flow_slot[i], word, result->event,
			worker->now);
	}
}
