/* SPDX-License-Identifier: BSD-2-Clause */
#include "pipeline.h"

#include "engine.h"
#include "fragment.h"

#include <rte_ether.h>
#include <rte_prefetch.h>

static void burst_begin(
	struct gw_burst *burst, uint16_t port, struct rte_mbuf **mbufs, uint16_t count)
{
	burst->count = burst->live_count = count;
	burst->port = port;
	burst->miss_count = 0;
	burst->rare_count = 0;
	for (uint16_t i = 0; i < count; i++) {
		rte_prefetch0(rte_pktmbuf_mtod(mbufs[i], void *));
		burst->mbuf[i] = mbufs[i];
		burst->live[i] = (uint8_t)i;
		burst->result[i] = (struct gw_result){
			.verdict = GW_VERDICT_HOST,
			.service = GW_NONE,
			.backend = GW_NONE,
			.slot = GW_NONE,
		};
	}
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

static void count_traffic(struct gw_traffic *traffic, uint32_t bytes, uint8_t flow)
{
	gw_count(&traffic->packets, 1);
	gw_count(&traffic->bytes, bytes);
	if (unlikely(flow == GW_TRACE_NEW))
		gw_count(&traffic->flows_new, 1);
}

/* Every packet of the burst goes where its verdict says, and raises one counter. */
void gw_burst_finish(struct gw_worker *worker, struct gw_burst *burst)
{
	struct gw_counters *counters = &worker->stats.counters;
	uint64_t sent = 0;

	for (uint16_t i = 0; i < burst->count; i++) {
		struct gw_result *result = &burst->result[i];
		struct rte_mbuf *mbuf = burst->mbuf[i];

		switch ((enum gw_verdict)result->verdict) {
		case GW_VERDICT_TX:
			sent++;
			count_traffic(&worker->backend_traffic[result->backend],
				burst->packet[i].l3_length, result->flow);
			count_traffic(&worker->service_traffic[result->service],
				burst->packet[i].l3_length, result->flow);
			if (unlikely(result->piece_count))
				gw_fragment_push(worker, result, mbuf);
			else
				gw_tx_push(worker, result->egress, mbuf);
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
	gw_count(&counters->tx, sent);
	worker->piece_count = 0;
}

void gw_pipeline_enter(struct gw_worker *worker)
{
	const struct gw_generation *generation =
		__atomic_load_n(&worker->engine->generation, __ATOMIC_ACQUIRE);

	worker->view = generation ? generation->view[worker->socket] : NULL;
}

void gw_pipeline_run(
	struct gw_worker *worker, uint16_t port, struct rte_mbuf **mbufs, uint16_t count)
{
	struct gw_burst *burst = &worker->burst;

	burst_begin(burst, port, mbufs, count);
	gw_count(&worker->stats.counters.rx, count);
	gw_pipeline_enter(worker);
	gw_stage_parse(worker, burst);
	if (worker->view) {
		gw_stage_service(worker, burst);
		gw_stage_flow(worker, burst);
		gw_stage_select(worker, burst);
		if (unlikely(burst->rare_count))
			gw_stage_rare(worker, burst);
		gw_stage_encap(worker, burst);
	} else {
		/* Nothing is a service yet. */
		for (uint16_t k = 0; k < burst->live_count; k++)
			burst->result[burst->live[k]].verdict = GW_VERDICT_HOST;
	}
	gw_burst_finish(worker, burst);
	if (unlikely(worker->hold->count))
		gw_fragment_poll(worker);
}
