/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * The balancer in XDP. One frame goes through the same steps as in the DPDK pipeline, by the same
 * rules (lib/abi):
 *
 *	addresses (parse.h)        not IP, another's MAC, no service address -> the host's
 *	transport (parse.h)        every rule of the header chain -> counted drop
 *	service (service.h)        by protocol and port -> no_service
 *	backend (lb_choose.h)      flow table, else the pool's table -> no_backend
 *	outer header (lb_send.h)   and out by XDP_TX or redirect -> too_big, no_neighbour
 *	rare things (lb_rare.h)    ICMP, later fragments, too big, each a function of its own
 *
 * All state is in maps that user space pins, so the program forwards on without control. The tables
 * are only read here, except the flow words (compare-and-swap) and this CPU's counters.
 */
#include "abi/parse.h"
#include "abi/service.h"
#include "lb_maps.h"
#include "lb_rare.h"
#include "lb_sample.h"
#include "lb_send.h"
#include "lb_state.h"

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

/* Set by replay and tests before loading: each decision is written to gw_trace. */
const volatile bool gw_tracing;

/* A unicast frame for another machine, seen because the interface is promiscuous. */
GW_INLINE bool lb_foreign_mac(const struct xdp_md *ctx, const struct gw_xdp_config *config)
{
	const uint8_t *frame = (const uint8_t *)(long)ctx->data, *mac;

	if (frame + GW_ETH_HEADER > (const uint8_t *)(long)ctx->data_end || frame[0] & 1 ||
		config->flags & GW_XDP_ANY_MAC)
		return false;
	mac = lb_mac(ctx, config);
	return mac && !lb_mac_same(mac, frame);
}

/*
 * Common, and a global function all the same: taken by itself it is verified once, not once for
 * each way through the parser, of which there are hundreds.
 */
__noinline int lb_choose(const struct gw_xdp_config *config, struct lb_state *state, uint32_t pool,
	uint32_t affinity)
{
	static const struct gw_choose_ops ops = {lb_bucket_at, lb_backend_at, lb_table_at};
	const struct gw_flow_key *key;
	struct gw_flow_key reduced;
	struct gw_choose in = {.pool = pool};

	if (!config || !state)
		return GW_DROP_NO_BACKEND;
	key = &state->packet.key;
	in.buckets = config->bucket_count;
	in.place = gw_flow_place(key, config->flow_seed, in.buckets);
	in.now = lb_seconds(config);
	in.event = gw_flow_event_of(state->packet.protocol, state->packet.tcp_flags);
	in.timeouts = &config->timeouts;
	if (affinity != GW_AFFINITY_5TUPLE) {
		reduced = *key;
		gw_flow_key_reduce(&reduced, (uint8_t)affinity);
		key = &reduced;
	}
	state->hash = gw_flow_hash(key, config->hash_seed);
	in.hash = state->hash;
	return gw_choose(&in, &ops, config, &state->choice);
}

GW_INLINE void lb_traffic_count(void *map, uint32_t id, uint32_t bytes, uint32_t flow)
{
	struct gw_traffic *traffic = bpf_map_lookup_elem(map, &id);

	if (traffic) {
		traffic->packets++;
		traffic->bytes += bytes;
		traffic->flows_new += flow == GW_TRACE_NEW;
	}
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

/* From a service address and ports to the service and its backend. */
GW_INLINE int lb_decide(const struct gw_xdp_config *config, struct gw_counters *counters,
	const struct gw_vip *vip, struct lb_state *state)
{
	const struct gw_packet *packet = &state->packet;
	const struct gw_service *service;
	int result;

	state->service = gw_service_match(
		vip, packet->protocol, GW_NTOHS(packet->key.destination_port), NULL, lb_span_at);
	service = bpf_map_lookup_elem(&gw_services, &state->service);
	if (!service || service->pool == GW_NONE) {
		state->service = GW_NONE;
		return vip->flags & GW_VIP_NO_SERVICE_HOST ? LB_HOST : GW_DROP_NO_SERVICE;
	}
	result = lb_choose(config, state, service->pool, service->affinity);
	if (result == LB_OK)
		lb_flow_count(counters, state->choice.flow);
	if (result == LB_OK && state->choice.flow == GW_TRACE_NEW)
		lb_flow_sample(state);
	return result;
}

/* Returns a step (lb_state.h): LB_OK means sent, by state->action. */
GW_INLINE int lb_run(struct xdp_md *ctx, struct gw_xdp_config *config, struct gw_counters *counters,
	struct lb_state *state)
{
	const void *frame = (const void *)(long)ctx->data;
	const void *end = (const void *)(long)ctx->data_end;
	uint32_t length = (uint32_t)(ctx->data_end - ctx->data);
	struct gw_packet *packet = &state->packet;
	const struct gw_backend *backend;
	const struct gw_vip *vip;
	int result;

	result = gw_parse_destination(frame, end, packet);
	if (result == LB_HOST)
		return lb_unclaimed(ctx, state);
	if (result != LB_OK)
		return result;
	if (lb_foreign_mac(ctx, config))
		return LB_HOST;
	vip = lb_vip_find(config, &packet->key.destination);
	if (!vip)
		return lb_unclaimed(ctx, state);
	state->vip_flags = vip->flags;
	if (packet->l3_offset + packet->l3_length > length)
		length = (uint32_t)bpf_xdp_get_buff_len(ctx); /* it may go on in more buffers */
	result = gw_parse_transport(frame, end, length, packet);
	if (result == LB_OK) {
		result = lb_decide(config, counters, vip, state);
		if (packet->fragment)
			lb_fragment_first(ctx, state, result);
	} else if (result == LB_ICMP) {
		result = lb_icmp(ctx, state);
		if (result == LB_QUOTED)
			result = lb_quoted(state);
		else if (result == LB_UNCLAIMED)
			result = lb_unclaimed(ctx, state);
	} else if (result == LB_LATE) {
		result = lb_fragment(ctx, state);
	}
	if (result != LB_OK)
		return result;
	backend = lb_backend_at(config, state->choice.backend);
	if (!backend)
		return GW_DROP_NO_BACKEND;
	result = lb_send(ctx, config, state, length, backend);
	if (result == GW_DROP_TOO_BIG && gw_too_big_answers(packet))
		return lb_too_big(ctx, state->choice.backend, packet->l3_offset, packet->l3_length,
			packet->family);
	return result;
}

GW_INLINE void lb_trace(const struct lb_state *state, int result)
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
	trace->service = state->service;
	trace->backend = state->choice.backend;
	trace->hash = state->hash;
	trace->slot = state->choice.slot;
	trace->flow = state->choice.flow;
}

/* Counts a packet that did not go to a backend; the program's return value. */
GW_INLINE int lb_end(struct gw_counters *counters, const struct lb_state *state, int result)
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

SEC("xdp.frags")
int guideway_lb(struct xdp_md *ctx)
{
	uint32_t zero = 0;
	struct gw_xdp_config *config = bpf_map_lookup_elem(&gw_config, &zero);
	struct gw_counters *counters = bpf_map_lookup_elem(&gw_counters, &zero);
	struct lb_state state = {};
	int result;

	if (!config || !counters)
		return XDP_PASS;
	state.service = GW_NONE;
	state.choice = (struct gw_choice){.backend = GW_NONE, .slot = GW_NONE};
	state.action = XDP_DROP;
	counters->rx++;
	result = lb_run(ctx, config, counters, &state);
	if (gw_tracing)
		lb_trace(&state, result);
	if (result != LB_OK)
		return lb_end(counters, &state, result);
	counters->tx++;
	lb_traffic_count(&gw_backend_traffic, state.choice.backend, state.packet.l3_length,
		state.choice.flow);
	lb_traffic_count(
		&gw_service_traffic, state.service, state.packet.l3_length, state.choice.flow);
	if (state.action != XDP_TX && state.action != XDP_REDIRECT) {
		counters->xmit_failed++;
		return XDP_DROP;
	}
	return state.action;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
