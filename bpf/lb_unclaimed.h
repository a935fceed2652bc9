/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * Frames that no service address claims: the host's, but for questions about announced addresses
 * (abi/announce.h) and what routers say about our tunnels (abi/path_mtu.h).
 */
#pragma once

#include "abi/announce.h"
#include "lb_maps.h"
#include "lb_path_mtu.h"
#include "lb_state.h"
#include "lb_sum.h"

/* Is it for us to answer who has this address? */
GW_INLINE bool lb_announces(const struct gw_xdp_config *config, const struct gw_address *address)
{
	const struct gw_vip *vip;

	if (gw_xdp_withdrawn(config, lb_now_ns(config)))
		return false;
	vip = lb_vip_at(config, address);
	return vip && vip->flags & GW_VIP_ANNOUNCE_L2;
}

/* The frame is to all of a group or to us, and from one machine. */
GW_INLINE bool lb_asks_us(
	const struct gw_xdp_config *config, const uint8_t *frame, const uint8_t *mac)
{
	return !(frame[6] & 1) &&
	       (frame[0] & 1 || config->flags & GW_XDP_ANY_MAC || lb_mac_same(frame, mac));
}

static __noinline int lb_arp(struct xdp_md *ctx, struct lb_state *state)
{
	uint8_t *frame = (uint8_t *)(long)ctx->data, *end = (uint8_t *)(long)ctx->data_end;
	struct gw_address *target = &state->packet.key.destination;
	uint32_t have = (uint32_t)bpf_xdp_get_buff_len(ctx), wanted;
	const struct gw_xdp_config *config = lb_config();
	const uint8_t *mac = config ? lb_mac(ctx, config) : NULL;
	uint8_t *arp = frame + GW_BOUND(state->packet.l3_offset, GW_PARSE_L3_MASK);

	wanted = state->packet.l3_offset + GW_ARP_BYTES;
	if (!mac || frame + GW_ETH_HEADER > end || arp + GW_ARP_BYTES > end)
		return LB_HOST;
	if (!lb_asks_us(config, frame, mac) || !gw_arp_asks(arp, target) ||
		!lb_announces(config, target))
		return LB_HOST;
	if (have > wanted && bpf_xdp_adjust_tail(ctx, (int)(wanted - have)))
		return LB_HOST;
	frame = (uint8_t *)(long)ctx->data;
	end = (uint8_t *)(long)ctx->data_end;
	arp = frame + GW_BOUND(state->packet.l3_offset, GW_PARSE_L3_MASK);
	if (frame + GW_ETH_HEADER > end || arp + GW_ARP_BYTES > end)
		return LB_HOST;
	gw_arp_answer(arp, mac);
	gw_announce_link(frame, mac, false);
	return LB_REPLY;
}

/* Is it a solicitation for us to answer? In two halves, as the stack is short. */
static __noinline bool lb_solicitation_asks(struct xdp_md *ctx, struct lb_state *state)
{
	uint8_t *frame = (uint8_t *)(long)ctx->data, *end = (uint8_t *)(long)ctx->data_end;
	struct gw_address *target = &state->packet.key.destination;
	uint32_t l3_offset = state->packet.l3_offset, payload;
	uint8_t *ip = frame + GW_BOUND(l3_offset, GW_PARSE_L3_MASK);
	int sum;

	if (ip + GW_ND_SOLICITATION > end ||
		!gw_nd_asks(ip, end, (uint32_t)bpf_xdp_get_buff_len(ctx) - l3_offset))
		return false;
	gw_wire_copy16(target->bytes, ip + GW_IPV6_HEADER + 8);
	payload = gw_wire_load16(ip + 4);
	sum = lb_inner_sum(ctx, l3_offset + GW_IPV6_HEADER, payload);
	frame = (uint8_t *)(long)ctx->data;
	end = (uint8_t *)(long)ctx->data_end;
	ip = frame + GW_BOUND(state->packet.l3_offset, GW_PARSE_L3_MASK);
	return ip + GW_ND_SOLICITATION <= end && sum >= 0 &&
	       gw_nd_sum_right(ip, payload, (uint32_t)sum);
}

static __noinline int lb_solicitation_answer(struct xdp_md *ctx, struct lb_state *state)
{
	uint8_t *frame = (uint8_t *)(long)ctx->data, *end = (uint8_t *)(long)ctx->data_end, *ip;
	uint32_t wanted = state->packet.l3_offset + GW_ND_ADVERTISEMENT;
	int grow = (int)(wanted - (uint32_t)bpf_xdp_get_buff_len(ctx));
	const struct gw_xdp_config *config = lb_config();
	const uint8_t *mac = config ? lb_mac(ctx, config) : NULL;

	if (!mac || frame + GW_ETH_HEADER > end || !lb_asks_us(config, frame, mac) ||
		!lb_announces(config, &state->packet.key.destination))
		return LB_HOST;
	if (grow && bpf_xdp_adjust_tail(ctx, grow))
		return LB_HOST;
	frame = (uint8_t *)(long)ctx->data;
	end = (uint8_t *)(long)ctx->data_end;
	ip = frame + GW_BOUND(state->packet.l3_offset, GW_PARSE_L3_MASK);
	if (frame + GW_ETH_HEADER > end || ip + GW_ND_ADVERTISEMENT > end)
		return LB_HOST;
	gw_announce_link(frame, mac, gw_nd_answer(ip, mac));
	return LB_REPLY;
}

__noinline int lb_unclaimed(struct xdp_md *ctx, struct lb_state *state)
{
	const uint8_t *frame = (const uint8_t *)(long)ctx->data, *ip, *type;
	const uint8_t *end = (const uint8_t *)(long)ctx->data_end;

	if (!state)
		return LB_HOST;
	type = frame + GW_BOUND(state->packet.l3_offset - 2, GW_PARSE_L3_MASK);
	ip = frame + GW_BOUND(state->packet.l3_offset, GW_PARSE_L3_MASK);
	if (ip + GW_IPV4_HEADER > end)
		return LB_HOST;
	if (state->packet.family == GW_IPV4)
		return ip[9] == GW_PROTO_ICMP ? lb_learn(ctx, state) : LB_HOST;
	if (state->packet.family == GW_IPV6) {
		if (ip[6] != GW_PROTO_ICMPV6 || ip + GW_IPV6_HEADER + GW_ICMP_HEADER > end)
			return LB_HOST;
		if (ip[GW_IPV6_HEADER] == GW_ICMPV6_TOO_BIG)
			return lb_learn(ctx, state);
		if (ip[GW_IPV6_HEADER] != GW_ICMPV6_SOLICITATION ||
			!lb_solicitation_asks(ctx, state))
			return LB_HOST;
		return lb_solicitation_answer(ctx, state);
	}
	if (type + 2 > end || gw_wire_load16(type) != GW_ETHERTYPE_ARP)
		return LB_HOST;
	return lb_arp(ctx, state);
}
