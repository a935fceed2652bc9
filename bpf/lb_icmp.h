/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * ICMP and ICMPv6 to a service address (abi/icmp.h): echo requests are answered in the frame they
 * came in; errors go to the backend of the flow that they quote. The flow table is only read.
 */
#pragma once

#include "abi/flow_place.h"
#include "abi/icmp.h"
#include "abi/service.h"
#include "lb_maps.h"
#include "lb_state.h"
#include "lb_sum.h"

/* Cuts what lies behind the first `length` bytes of the frame. */
GW_INLINE bool lb_cut(struct xdp_md *ctx, uint32_t length)
{
	uint32_t have = (uint32_t)bpf_xdp_get_buff_len(ctx);

	return have <= length || !bpf_xdp_adjust_tail(ctx, (int)(length - have));
}

static __noinline int lb_echo(struct xdp_md *ctx, struct lb_state *state)
{
	const struct gw_packet *packet = &state->packet;
	uint32_t payload = packet->l4_offset + GW_ICMP_HEADER;
	uint32_t length = packet->l3_offset + packet->l3_length;
	uint8_t *frame = (uint8_t *)(long)ctx->data, *end = (uint8_t *)(long)ctx->data_end;
	const uint8_t *icmp = frame + GW_BOUND(packet->l4_offset, GW_PARSE_L4_MASK);
	const struct gw_xdp_config *config = lb_config();
	bool zeroes;

	if (!config || gw_xdp_withdrawn(config, lb_now_ns(config)) ||
		state->vip_flags & GW_VIP_NO_ECHO || !gw_icmp_echo_allowed(frame, end, packet))
		return GW_DROP_ICMP_OTHER;
	if (icmp + GW_ICMP_HEADER > end)
		return GW_DROP_MALFORMED;
	zeroes = gw_icmp_echo_ambiguous(icmp, packet) &&
		 !lb_inner_sum(ctx, payload, length - payload);
	if (!lb_cut(ctx, length))
		return GW_DROP_MALFORMED;
	frame = (uint8_t *)(long)ctx->data;
	end = (uint8_t *)(long)ctx->data_end;
	if (!gw_icmp_echo_answer(frame, end, packet, zeroes))
		return GW_DROP_MALFORMED;
	return LB_REPLY;
}

/*
 * After lb_icmp's LB_QUOTED: the backend of the flow in state->packet.key. Called by the program,
 * not by lb_icmp: what is on the stack at once is little.
 */
__noinline int lb_quoted(struct lb_state *state)
{
	static const struct gw_choose_ops ops = {lb_bucket_at, lb_backend_at, lb_table_at};
	const struct gw_xdp_config *config = lb_config();
	struct gw_choose in = {.event = GW_FLOW_PACKET};
	const struct gw_service *service;

	if (!config || !state)
		return GW_DROP_ICMP_OTHER;
	service = lb_service_at(state->service);
	if (!service)
		return GW_DROP_ICMP_OTHER;
	in.pool = service->pool;
	in.buckets = config->bucket_count;
	in.place = gw_flow_place(&state->packet.key, config->flow_seed, in.buckets);
	in.now = lb_seconds(config);
	in.timeouts = &config->timeouts;
	gw_flow_key_reduce(&state->packet.key, service->affinity);
	state->hash = gw_flow_hash(&state->packet.key, config->hash_seed);
	if (!(service->flags & GW_SERVICE_UNTRACKED))
		state->choice.backend = gw_choose_tracked(&in, &ops, config);
	state->choice.flow = GW_TRACE_HIT;
	if (state->choice.backend != GW_NONE)
		return LB_OK;
	state->choice.flow = GW_TRACE_NONE;
	state->choice.backend =
		lb_table_at(config, service->pool, state->hash, &state->choice.slot);
	return state->choice.backend == GW_NONE ? GW_DROP_NO_BACKEND : LB_OK;
}

/* Finds the service of the quoted flow. */
static __noinline int lb_error(struct xdp_md *ctx, struct lb_state *state)
{
	struct gw_packet *packet = &state->packet;
	uint32_t length = gw_icmp_quote_length(packet);
	const struct gw_xdp_config *config = lb_config();
	struct lb_scratch *scratch = lb_scratch();
	const struct gw_service *service;
	const struct gw_vip *vip;

	if (!config || !scratch || !length)
		return GW_DROP_ICMP_OTHER;
	vip = lb_vip_at(config, &packet->key.destination);
	length = GW_BOUND(length - 1, 0x7ff) + 1;
	if (!vip ||
		bpf_xdp_load_bytes(ctx, packet->l4_offset + GW_ICMP_HEADER, scratch->bytes, length))
		return GW_DROP_ICMP_OTHER;
	if (!gw_icmp_quoted_flow(scratch->bytes, length, packet->family, &packet->key))
		return GW_DROP_ICMP_OTHER;
	state->service = gw_service_match(vip, packet->key.protocol,
		GW_NTOHS(packet->key.destination_port), NULL, lb_span_at);
	service = lb_service_at(state->service);
	if (!service || service->pool == GW_NONE) {
		state->service = GW_NONE;
		return vip->flags & GW_VIP_NO_SERVICE_HOST ? LB_HOST : GW_DROP_ICMP_OTHER;
	}
	return LB_QUOTED;
}

/* A step; or LB_QUOTED, LB_UNCLAIMED: on to lb_quoted or lb_unclaimed. */
__noinline int lb_icmp(struct xdp_md *ctx, struct lb_state *state)
{
	const uint8_t *frame = (const uint8_t *)(long)ctx->data, *icmp;

	if (!state)
		return GW_DROP_ICMP_OTHER;
	icmp = frame + GW_BOUND(state->packet.l4_offset, GW_PARSE_L4_MASK);
	if (icmp + GW_ICMP_HEADER > (const uint8_t *)(long)ctx->data_end)
		return GW_DROP_MALFORMED;
	switch (gw_icmp_kind(state->packet.family, icmp[0])) {
	case GW_ICMP_KIND_ECHO:
		return lb_echo(ctx, state);
	case GW_ICMP_KIND_ERROR:
		return lb_error(ctx, state);
	case GW_ICMP_KIND_SOLICITATION:
		return LB_UNCLAIMED;
	default:
		return GW_DROP_ICMP_OTHER;
	}
}
