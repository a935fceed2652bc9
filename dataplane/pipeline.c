/* SPDX-License-Identifier: BSD-2-Clause */
#include "pipeline.h"

#include "departure.h"
#include "engine.h"
#include "fragment.h"
#include "service_seen.h"
#include "service_traffic.h"

#include <rte_ether.h>
#include <rte_prefetch.h>

#include <string.h>

/* Places in their order. */
static const uint8_t all_places[GW_BURST_MAX] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14,
	15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37,
	38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60,
	61, 62, 63};

static void burst_begin(
	struct gw_burst *burst, uint16_t port, struct rte_mbuf **mbufs, uint16_t count)
{
	burst->count = burst->live_count = count;
	burst->port = port;
	burst->miss_count = 0;
	burst->rare_count = 0;
	burst->common = 0;
	burst->untracked = 0;
	burst->alike = false;
	memcpy(burst->live, all_places, sizeof(burst->live));
	memcpy(burst->mbuf, mbufs, count * sizeof(mbufs[0]));
	for (uint16_t i = 0; i < count; i++)
		rte_prefetch0(rte_pktmbuf_mtod(mbufs[i], void *));
}

/* Nothing is known yet about those that the common stage left. */
static void begin_long_road(struct gw_burst *burst)
{
	for (uint16_t k = 0; k < burst->live_count; k++)
		burst->result[burst->live[k]] = (struct gw_result){
			.verdict = GW_VERDICT_HOST,
			.service = GW_NONE,
			.backend = GW_NONE,
			.slot = GW_NONE,
		};
}

/* Both roads meet: all that live, in their order. */
static void join_roads(struct gw_burst *burst)
{
	uint64_t live = burst->common;
	uint16_t count = 0;

	for (uint16_t k = 0; k < burst->live_count; k++)
		live |= 1ull << burst->live[k];
	for (; live; live &= live - 1)
		burst->live[count++] = (uint8_t)__builtin_ctzll(live);
	burst->live_count = count;
}

/* Whose the frames are, and for which services. */
static void find_services(struct gw_worker *worker, struct gw_burst *burst)
{
	gw_stage_common(worker, burst);
	if (likely(!burst->live_count)) {
		burst->live_count = burst->count;
		return;
	}
	begin_long_road(burst);
	gw_stage_parse(worker, burst);
	gw_stage_service(worker, burst);
	join_roads(burst);
}

/* Nothing is a service yet. */
static void all_to_host(struct gw_worker *worker, struct gw_burst *burst)
{
	begin_long_road(burst);
	gw_stage_parse(worker, burst);
	for (uint16_t k = 0; k < burst->live_count; k++)
		burst->result[burst->live[k]].verdict = GW_VERDICT_HOST;
}

/* The host's frame, untouched, to the host thread. */
static void hand_to_host(struct gw_worker *worker, struct rte_mbuf *mbuf, uint16_t port,
	struct gw_result *result, struct gw_counters *counters)
{
	enum gw_drop reason = GW_DROP_HOST_FULL;

	if (worker->engine->port[port].kernel_has_copy) {
		rte_pktmbuf_free(mbuf);
		gw_count(&counters->to_host, 1);
		return;
	}
	if (worker->engine->port[port].no_host_path)
		reason = GW_DROP_NO_HOST_PATH;
	else if (mbuf->ol_flags & RTE_MBUF_F_RX_VLAN_STRIPPED && rte_vlan_insert(&mbuf) != 0)
		reason = GW_DROP_NO_HEADROOM; /* the tag that the port took off belongs to the frame
					       */
	else if (worker->to_host && rte_ring_sp_enqueue(worker->to_host, mbuf) == 0) {
		gw_count(&counters->to_host, 1);
		return;
	}
	rte_pktmbuf_free(mbuf);
	gw_result_drop(result, reason);
	gw_count(&counters->drops[reason], 1);
}

/* All that does not leave as one frame to a backend. */
static __rte_noinline void finish_other(
	struct gw_worker *worker, struct gw_burst *burst, uint16_t i)
{
	struct gw_counters *counters = &worker->stats.counters;
	struct gw_result *result = &burst->result[i];
	struct rte_mbuf *mbuf = burst->mbuf[i];

	switch ((enum gw_verdict)result->verdict) {
	case GW_VERDICT_TX:
		gw_fragment_push(worker, result, mbuf);
		break;
	case GW_VERDICT_REPLY:
		gw_count(&counters->replied, 1);
		gw_tx_push(worker, result->egress, mbuf);
		break;
	case GW_VERDICT_HOST:
		hand_to_host(worker, mbuf, burst->port, result, counters);
		break;
	case GW_VERDICT_CONSUMED:
		gw_count(&counters->consumed, 1);
		rte_pktmbuf_free(mbuf);
		break;
	case GW_VERDICT_HELD:
		/* Whoever holds it has it. */
		gw_count(&counters->held, 1);
		break;
	case GW_VERDICT_DROP:
		gw_count(&counters->drops[result->reason], 1);
		rte_pktmbuf_free(mbuf);
		break;
	}
}

/* Of all packets that leave to a backend, and the flows that they began. */
static void count_burst(struct gw_worker *worker, const struct gw_burst *burst)
{
	struct gw_departure *backends = worker->departure;
	uint64_t *services = worker->service_brief;
	uint16_t count = burst->count;
	uint64_t sent = 0;

	for (uint16_t i = 0; i < count; i++) {
		const struct gw_result *result = &burst->result[i];
		uint32_t bytes;

		if (unlikely(result->verdict != GW_VERDICT_TX))
			continue;
		sent++;
		bytes = burst->packet[i].l3_length;
		gw_count(&backends[result->backend].packets, 1);
		gw_count(&backends[result->backend].bytes, bytes);
		gw_service_count(worker, services, result->service, bytes);
	}
	gw_count(&worker->stats.counters.tx, sent);
	for (uint16_t k = 0; k < burst->miss_count; k++) {
		const struct gw_result *result = &burst->result[burst->miss[k]];

		if (result->verdict == GW_VERDICT_TX && result->flow == GW_TRACE_NEW) {
			gw_count(&backends[result->backend].flows_new, 1);
			gw_count(&worker->service_traffic[result->service].flows_new, 1);
		}
	}
}

/* Every packet of the burst goes where its verdict says, and raises one counter. */
void gw_burst_finish(struct gw_worker *worker, struct gw_burst *burst)
{
	count_burst(worker, burst);
	if (likely(burst->alike)) {
		gw_tx_push_all(worker, burst->result[0].egress, burst->mbuf, burst->count);
		return;
	}
	for (uint16_t i = 0; i < burst->count; i++) {
		const struct gw_result *result = &burst->result[i];

		if (likely(result->verdict == GW_VERDICT_TX && !result->piece_count))
			gw_tx_push(worker, result->egress, burst->mbuf[i]);
		else
			finish_other(worker, burst, i);
	}
	worker->piece_count = 0;
}

/*
 * Another snapshot, or the first: what was remembered of the last one is void, but services that
 * are the same in both.
 */
static __rte_noinline void meet_view(struct gw_worker *worker, const struct gw_view *view)
{
	memset(worker->vip_seen, 0, sizeof(worker->vip_seen));
	if (worker->service_seen_version != view->services_version) {
		gw_service_seen_forget(worker, view->span_count);
		worker->service_seen_version = view->services_version;
	}
	gw_key_seed_set(&worker->table_seed, view->hash_seed);
	worker->flow_secrets = gw_flow_secrets(worker->engine->flows.seed);
	worker->seen_version = view->version;
}

void gw_pipeline_enter(struct gw_worker *worker)
{
	const struct gw_generation *generation =
		__atomic_load_n(&worker->engine->generation, __ATOMIC_ACQUIRE);
	const struct gw_view *view = generation ? generation->view[worker->socket] : NULL;

	worker->view = view;
	if (view && unlikely(worker->seen_version != view->version))
		meet_view(worker, view);
	if (view)
		gw_departures_check(worker);
}

void gw_pipeline_run(
	struct gw_worker *worker, uint16_t port, struct rte_mbuf **mbufs, uint16_t count)
{
	struct gw_burst *burst = &worker->burst;

	burst_begin(burst, port, mbufs, count);
	gw_count(&worker->stats.counters.rx, count);
	gw_pipeline_enter(worker);
	if (likely(worker->view != NULL)) {
		find_services(worker, burst);
		gw_stage_flow(worker, burst);
		gw_stage_select(worker, burst);
		if (unlikely(burst->rare_count))
			gw_stage_rare(worker, burst);
		gw_stage_encap(worker, burst);
	} else {
		all_to_host(worker, burst);
	}
	gw_burst_finish(worker, burst);
	if (unlikely(worker->hold->count))
		gw_fragment_poll(worker);
}
