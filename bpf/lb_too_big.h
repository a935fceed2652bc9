/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * Packets that, once encapsulated, exceed the egress MTU: the client is told what fits
 * (abi/too_big.h). The packet becomes its own quote: cut at its end, headers put in front. Without
 * DF it would have to be fragmented, which cannot be done here: a counted drop.
 */
#pragma once

#include "abi/limit.h"
#include "abi/too_big.h"
#include "lb_icmp.h"
#include "lb_maps.h"
#include "lb_path_mtu.h"
#include "lb_state.h"
#include "lb_sum.h"

#define LB_LINK_MAX (GW_ETH_HEADER + GW_PARSE_TAGS * GW_VLAN_TAG)

/* One more answer? Global, as the next one is: the verifier takes each once, not once a way to it.
 */
__noinline int lb_too_big_allowed(void)
{
	const struct gw_xdp_config *config = lb_config();
	uint32_t zero = 0;
	uint64_t *limit = bpf_map_lookup_elem(&gw_limit, &zero);

	return config && limit && gw_limit_take(limit, lb_now_ns(config));
}

/* The headers, at the start of a frame that has room for them. */
static __noinline int lb_too_big_ipv4(
	struct xdp_md *ctx, uint32_t l3_offset, uint32_t mtu, uint32_t quote, uint32_t sum)
{
	uint8_t *frame = (uint8_t *)(long)ctx->data, *end = (uint8_t *)(long)ctx->data_end;
	uint8_t *ip = frame + GW_BOUND(l3_offset, GW_PARSE_L3_MASK);

	if (frame + GW_TOO_BIG_IPV4 + LB_LINK_MAX > end ||
		ip + GW_TOO_BIG_IPV4 + GW_IPV4_HEADER > end)
		return GW_DROP_NO_HEADROOM;
	gw_icmp_link(frame, frame + GW_TOO_BIG_IPV4, l3_offset);
	gw_too_big_ipv4(ip, quote, mtu, (uint16_t)sum);
	return LB_REPLY;
}

static __noinline int lb_too_big_ipv6(
	struct xdp_md *ctx, uint32_t l3_offset, uint32_t mtu, uint32_t quote, uint32_t sum)
{
	uint8_t *frame = (uint8_t *)(long)ctx->data, *end = (uint8_t *)(long)ctx->data_end;
	uint8_t *ip = frame + GW_BOUND(l3_offset, GW_PARSE_L3_MASK);

	if (frame + GW_TOO_BIG_IPV6 + LB_LINK_MAX > end ||
		ip + GW_TOO_BIG_IPV6 + GW_IPV6_HEADER > end)
		return GW_DROP_NO_HEADROOM;
	gw_icmp_link(frame, frame + GW_TOO_BIG_IPV6, l3_offset);
	gw_too_big_ipv6(ip, quote, mtu, (uint16_t)sum);
	return LB_REPLY;
}

/*
 * Answers a packet of `length` bytes behind l3_offset bytes of link layer, one that
 * gw_too_big_answers: LB_REPLY, or the enum gw_drop. It takes numbers, not the state: what a global
 * function may read of the stack the verifier has to tell apart all the way to it.
 */
__noinline int lb_too_big(struct xdp_md *ctx, uint32_t backend_id, uint32_t l3_offset,
	uint32_t length, uint32_t family)
{
	struct gw_xdp_config *config = lb_config();
	const struct gw_backend *backend = lb_backend_at(config, backend_id);
	uint32_t quote = gw_too_big_quote((uint8_t)family, length), mtu;
	int sum;

	if (!config || !backend)
		return GW_DROP_TOO_BIG;
	if (!lb_too_big_allowed())
		return GW_DROP_PTB_LIMITED;
	mtu = lb_egress_mtu(config, backend) - backend->overhead;
	sum = lb_inner_sum(ctx, l3_offset, quote);
	if (sum < 0 || !lb_cut(ctx, l3_offset + quote) ||
		bpf_xdp_adjust_head(ctx, -(int)gw_too_big_headers((uint8_t)family)))
		return GW_DROP_NO_HEADROOM;
	return family == GW_IPV4 ? lb_too_big_ipv4(ctx, l3_offset, mtu, quote, (uint32_t)sum)
				 : lb_too_big_ipv6(ctx, l3_offset, mtu, quote, (uint32_t)sum);
}
