/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/* What is counted of a packet at its end, and its trace. */
#pragma once

#include "abi/verdict.h"
#include "abi/verifier.h"
#include "lb_choose.h"
#include "lb_maps.h"
#include "lb_state.h"

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

/* Set by replay and tests before loading: each decision is written to gw_trace. */
const volatile bool gw_tracing;

GW_INLINE void lb_traffic_count(void *map, uint32_t id, uint32_t bytes, uint32_t flow)
{
	struct gw_traffic *traffic = bpf_map_lookup_elem(map, &id);

	if (traffic) {
		traffic->packets++;
		traffic->bytes += bytes;
		if (flow == GW_TRACE_NEW)
			traffic->flows_new++;
	}
}

/* One packet of `bytes` handed over to a backend. */
GW_INLINE void lb_count_sent(struct gw_counters *counters, uint32_t backend, uint32_t service,
	uint32_t bytes, uint32_t flow)
{
	counters->tx++;
	lb_traffic_count(&gw_backend_traffic, backend, bytes, flow);
	lb_traffic_count(&gw_service_traffic, service, bytes, flow);
}

GW_INLINE void lb_flow_count(struct gw_counters *counters, uint32_t flow)
{
	if (flow == GW_TRACE_NEW)
		counters->flows_new++;
	else if (flow == GW_TRACE_MOVED)
		counters->flows_moved++;
	else if (flow == GW_TRACE_UNTRACKED)
		counters->untracked++;
}

/* Counts a packet that did not go to a backend; the program's return value. */
GW_INLINE int lb_end(struct gw_counters *counters, int result)
{
	if (result == LB_HOST) {
		counters->to_host++;
		return XDP_PASS;
	}
	if (result == LB_REPLY) {
		counters->replied++;
		return XDP_TX;
	}
	if (result == LB_CONSUMED) {
		counters->consumed++;
	} else {
		/* clang 19 knows all results by now and would leave the comparison out; Linux
		 * 6.1 learns from one of 64 bits only. */
		uint64_t reason = GW_FORGET((uint32_t)result, counters->rx);

		if (reason < GW_DROP_MAX)
			counters->drops[reason]++;
	}
	return XDP_DROP;
}

/* The action of a packet that was handed over; one that the kernel refuses is counted. */
GW_INLINE int lb_leave(struct gw_counters *counters, int action)
{
	if (action == XDP_TX || action == XDP_REDIRECT)
		return action;
	counters->xmit_failed++;
	return XDP_DROP;
}

GW_INLINE void lb_trace(int result, uint32_t service, uint64_t hash, const struct gw_choice *choice)
{
	uint32_t zero = 0;
	struct gw_xdp_trace *trace = bpf_map_lookup_elem(&gw_trace, &zero);

	if (!trace)
		return;
	trace->verdict = result == LB_OK	 ? GW_VERDICT_TX
			 : result == LB_HOST	 ? GW_VERDICT_HOST
			 : result == LB_REPLY	 ? GW_VERDICT_REPLY
			 : result == LB_CONSUMED ? GW_VERDICT_CONSUMED
						 : GW_VERDICT_DROP;
	trace->reason = result >= 0 ? (uint32_t)result : 0;
	trace->service = service;
	trace->backend = choice->backend;
	trace->hash = hash;
	trace->slot = choice->slot;
	trace->flow = choice->flow;
}
