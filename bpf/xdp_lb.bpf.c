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
 * The common packet takes a shorter way to the same end (lb_fast.h).
 *
 * All state is in maps that user space pins, so the program forwards on without control. The tables
 * are only read here, except the flow words (compare-and-swap) and this CPU's counters.
 */
#include "abi/parse.h"
#include "abi/service.h"
#include "lb_count.h"
#include "lb_fast.h"
#include "lb_maps.h"
#include "lb_rare.h"
#include "lb_sample.h"
#include "lb_send.h"
#include "lb_state.h"

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

/*
 * Common, and a global function all the same: taken by itself it is verified once, not once for
 * each way through the parser, of which there are hundreds.
 */
__noinline int lb_choose(const struct gw_xdp_config *config, struct lb_state *state, uint32_t pool,
	uint32_t affinity, uint32_t flags)
{
	static const struct gw_choose_ops ops = {lb_bucket_at, lb_backend_at, lb_table_at};
	const struct gw_flow_key *key;
	struct gw_flow_key reduced;
	struct gw_choose in = {.pool = pool};

	if (!config || !state)
		return GW_DROP_NO_BACKEND;
	key = &state->packet.key;
	if (affinity != GW_AFFINITY_5TUPLE) {
		reduced = *key;
		gw_flow_key_reduce(&reduced, (uint8_t)affinity);
		key = &reduced;
	}
	state->hash = gw_flow_hash(key, config->hash_seed);
	in.hash = state->hash;
	/* Asked once: Linux 6.1's verifier holds another answer for possible the second time. */
	if (flags & GW_SERVICE_UNTRACKED)
		return gw_choose_by_table(&in, &ops, config, &state->choice);
	in.buckets = config->bucket_count;
	in.place = gw_flow_place(&state->packet.key, config->flow_seed, in.buckets);
	in.now = lb_seconds(config);
	in.event = gw_flow_event_of(state->packet.protocol, state->packet.tcp_flags);
	in.timeouts = &config->timeouts;
	return gw_choose(&in, &ops, config, &state->choice);
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
	result = lb_choose(config, state, service->pool, service->affinity, service->flags);
	if (result == LB_OK)
		lb_flow_count(counters, state->choice.flow);
	if (result == LB_OK && state->choice.flow == GW_TRACE_NEW)
		lb_flow_sample(state);
	return result;
}

/* Returns a step (lb_state.h): LB_OK means sent, by state->action; LB_OTHER has filled *out. */
GW_INLINE int lb_run(struct xdp_md *ctx, struct gw_xdp_config *config, struct gw_counters *counters,
	struct lb_state *state, struct lb_outbound *out)
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
	result = lb_send(ctx, config, state, length, backend, out);
	if (result == GW_DROP_TOO_BIG && gw_too_big_answers(packet))
		return lb_too_big(ctx, state->choice.backend, packet->l3_offset, packet->l3_length,
			packet->family);
	return result;
}

/* Any packet, from its first step; returns the XDP action, or LB_OTHER with *out filled. */
__noinline int lb_whole(struct xdp_md *ctx, struct lb_outbound *out)
{
	uint32_t zero = 0;
	struct gw_xdp_config *config = lb_config();
	struct gw_counters *counters = bpf_map_lookup_elem(&gw_counters, &zero);
	struct lb_state state = {};
	int result;

	if (!config || !counters || !out)
		return XDP_PASS;
	state.service = GW_NONE;
	state.choice = (struct gw_choice){.backend = GW_NONE, .slot = GW_NONE};
	state.action = XDP_DROP;
	counters->rx++;
	result = lb_run(ctx, config, counters, &state, out);
	if (result == LB_OTHER)
		return result;
	if (gw_tracing)
		lb_trace(result, state.service, state.hash, &state.choice);
	if (result != LB_OK)
		return lb_end(counters, result);
	lb_count_sent(counters, state.choice.backend, state.service, state.packet.l3_length,
		state.choice.flow);
	return lb_leave(counters, state.action);
}

/* The end of LB_OTHER: headers that are not plain; returns the XDP action. */
__noinline int lb_other(struct xdp_md *ctx, struct lb_outbound *out)
{
	uint32_t zero = 0;
	struct gw_xdp_config *config = lb_config();
	struct gw_counters *counters = bpf_map_lookup_elem(&gw_counters, &zero);
	struct lb_way way = {};
	struct gw_choice choice;
	int result;

	if (!config || !counters || !out)
		return XDP_DROP;
	result = lb_encapsulate_other(ctx, out);
	choice = (struct gw_choice){.backend = out->backend, .slot = out->slot, .flow = out->flow};
	if (gw_tracing)
		lb_trace(result, out->service, out->hash, &choice);
	if (result != LB_OK)
		return lb_end(counters, result);
	lb_count_sent(counters, choice.backend, out->service, out->l3_length, choice.flow);
	way.link = out->link;
	lb_way_from_link(config, out->hash, &way);
	return lb_leave(counters, lb_action(ctx, &way));
}

SEC("xdp.frags")
int guideway_lb(struct xdp_md *ctx)
{
	const uint8_t *frame = (const uint8_t *)(long)ctx->data;
	struct lb_outbound *out;
	int result = LB_SLOW;

	if (frame + GW_ETH_HEADER <= (const uint8_t *)(long)ctx->data_end)
		result = GW_WIRE_LOAD(uint16_t, frame + 12) == GW_HTONS(GW_ETHERTYPE_IPV4)
				 ? lb_fast_ipv4(ctx)
				 : lb_fast_ipv6(ctx);
	if (result >= 0)
		return result;
	out = lb_outbound();
	if (!out)
		return XDP_PASS;
	if (result == LB_SLOW)
		result = lb_whole(ctx, out);
	return result == LB_OTHER ? lb_other(ctx, out) : result;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
