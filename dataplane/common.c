/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * First stage: takes the common frames (common.h) of flows to services that the worker has met
 * lately, in one pass over the burst, from the first byte to the flow's place in the table, whose
 * bucket is fetched ahead. All others are left in burst->live for the next two stages.
 */
#include "common.h"

#include "engine.h"
#include "pipeline.h"
#include "service_seen.h"

/* One segment that nobody else holds: two adjacent fields of the mbuf, read at once. */
static inline bool is_plain(const struct rte_mbuf *mbuf)
{
	_Static_assert(offsetof(struct rte_mbuf, nb_segs) == offsetof(struct rte_mbuf, refcnt) + 2,
		"refcnt and nb_segs are one word");

	return GW_WIRE_LOAD(uint32_t, (const uint8_t *)mbuf + offsetof(struct rte_mbuf, refcnt)) ==
	       0x00010001;
}

static inline bool take(struct gw_worker *worker, const struct gw_common_link *link,
	struct gw_burst *burst, uint16_t i)
{
	const struct gw_flow_table *flows = &worker->engine->flows;
	const struct rte_mbuf *mbuf = burst->mbuf[i];
	struct gw_packet *packet = &burst->packet[i];
	uint64_t key[GW_KEY_WORDS];
	uint32_t service;

	if (unlikely(!is_plain(mbuf) ||
		     !gw_common_read(link, rte_pktmbuf_mtod(mbuf, const uint8_t *), mbuf->data_len,
			     packet, key)))
		return false;
	service = gw_service_seen_find(worker, &key[2], (uint32_t)(key[4] >> 16));
	if (unlikely(service == GW_NONE))
		return false;
	burst->place[i] = gw_flow_place_of(
		gw_key_hash(&worker->flow_seed, key), packet->protocol, flows->buckets);
	gw_flow_prefetch(flows, burst->place[i]);
	burst->result[i] = (struct gw_result){
		.verdict = GW_VERDICT_TX,
		.service = service,
		.backend = GW_NONE,
		.slot = GW_NONE,
		.event = gw_flow_event_of(packet->protocol, packet->tcp_flags),
	};
	return true;
}

void gw_stage_common(struct gw_worker *worker, struct gw_burst *burst)
{
	const struct gw_common_link link = gw_common_link(&worker->engine->port[burst->port]);
	uint64_t common = 0;
	uint16_t left = 0;

	for (uint16_t i = 0; i < burst->count; i++) {
		if (likely(take(worker, &link, burst, i)))
			common |= 1ull << i;
		else
			burst->live[left++] = (uint8_t)i;
	}
	burst->common = common;
	burst->live_count = left;
}
