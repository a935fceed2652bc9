/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Third stage: a tracked flow stays where it is, as long as its backend may keep it
 * (gw_backend_keeps_flow). The rest is left in burst->miss for the next stage.
 */
#include "engine.h"
#include "pipeline.h"

/* Looks up each flow and fetches ahead the record of the backend it names. */
static void find_flows(struct gw_worker *worker, struct gw_burst *burst)
{
	const struct gw_view *view = worker->view;
	const struct gw_flow_table *flows = &worker->engine->flows;

	for (uint16_t k = 0; k < burst->live_count; k++) {
		uint8_t i = burst->live[k];
		uint64_t word;
		uint32_t slot = gw_flow_lookup(flows, burst->place[i], &word);

		if (slot != GW_FLOW_NOWHERE && gw_flow_expired(word, worker->now, &view->timeouts))
			slot = GW_FLOW_NOWHERE;
		burst->flow_slot[i] = slot;
		if (slot == GW_FLOW_NOWHERE)
			continue;
		burst->flow_word[i] = word;
		rte_prefetch0(&view->backend[gw_flow_backend(word)]);
	}
}

void gw_stage_flow(struct gw_worker *worker, struct gw_burst *burst)
{
	const struct gw_view *view = worker->view;

	find_flows(worker, burst);
	burst->miss_count = 0;
	for (uint16_t k = 0; k < burst->live_count; k++) {
		uint8_t i = burst->live[k];
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
		gw_flow_touch(&worker->engine->flows, burst->flow_slot[i], word, result->event,
			worker->now);
	}
}
