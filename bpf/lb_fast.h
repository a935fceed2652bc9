/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * The common packet: a common frame (lb_common.h) to a service that this CPU has seen before
 * (lb_claims.h), of a flow whose word is in the first of its two buckets, to a backend that may
 * keep it. It does what the whole program would do, by the same rules, and leaves out what is sure
 * to be asked in vain. As soon as something else turns up, and before anything is changed, the
 * packet is left to the whole program, which begins anew.
 *
 * The order is the memory's: the bucket is the one line that is likely to be in no cache, so its
 * place is computed first, and whatever does not need it is done before it is looked at.
 */
#pragma once

#include "abi/flow_place.h"
#include "lb_claims.h"
#include "lb_common.h"
#include "lb_count.h"
#include "lb_maps.h"
#include "lb_send.h"
#include "lb_state.h"

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#define LB_FIND_MASK ((GW_FLOW_BUCKET_WORDS - 1) * sizeof(uint64_t))
#define LB_TAG_HALF  (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) /* of a word's two */

#define LB_STATE_AND_STAMP ((3u << GW_FLOW_STATE_SHIFT) | GW_FLOW_STAMP_MASK)

/*
 * The hash that picks the slot, of a common frame that is as it came. The key is read again, so
 * that the many packets that need no such hash do not carry it along.
 */
GW_INLINE uint64_t lb_fast_hash(
	struct xdp_md *ctx, uint8_t family, uint64_t seed, uint32_t affinity)
{
	const void *frame = (const void *)(long)ctx->data, *end = (const void *)(long)ctx->data_end;
	struct gw_packet packet = {};
	uint64_t macs;

	if (!lb_common_parse(frame, end, family, &packet, &macs))
		return 0;
	gw_flow_key_reduce(&packet.key, (uint8_t)affinity);
	return gw_flow_hash(&packet.key, seed);
}

static __noinline uint64_t lb_fast_hash4(struct xdp_md *ctx, uint64_t seed, uint32_t affinity)
{
	return lb_fast_hash(ctx, GW_IPV4, seed, affinity);
}

static __noinline uint64_t lb_fast_hash6(struct xdp_md *ctx, uint64_t seed, uint32_t affinity)
{
	return lb_fast_hash(ctx, GW_IPV6, seed, affinity);
}

/* Cuts Ethernet's padding off, which may go on in more buffers. */
GW_INLINE bool lb_fast_cut(struct xdp_md *ctx, uint32_t length)
{
	uint32_t have = (uint32_t)(ctx->data_end - ctx->data);

	if (have <= length)
		return true;
	have = (uint32_t)bpf_xdp_get_buff_len(ctx);
	return !bpf_xdp_adjust_tail(ctx, (int)(length - have));
}

/* Makes room and writes the headers of what is plain. */
GW_INLINE int lb_fast_encapsulate(struct xdp_md *ctx, const struct gw_packet *packet, uint64_t hash,
	const struct gw_backend *backend, const struct gw_link *link)
{
	uint8_t family = backend->family;
	int grow = family == GW_IPV4 ? GW_IPV4_HEADER : GW_IPV6_HEADER;

	if (bpf_xdp_adjust_head(ctx, -grow))
		return GW_DROP_NO_HEADROOM;
	return lb_headers_plain(ctx, packet, backend, family, hash, link);
}

/*
 * The word of a bucket with this tag, or the first one. Without a branch: which word it is nobody
 * can predict, and a wrong guess would make everything behind wait for the bucket's line. The
 * compiler must not know what it computes here, or it finds the comparison in it and branches.
 */
GW_INLINE uint64_t *lb_fast_find(struct gw_flow_bucket *bucket, uint32_t tag)
{
	uint64_t found = 0;

#pragma GCC unroll 8
	for (uint32_t i = 1; i < GW_FLOW_BUCKET_WORDS; i++) {
		uint64_t differ =
			*((const volatile uint32_t *)&bucket->word[i] + LB_TAG_HALF) ^ tag;

		differ--; /* of 64 bits: all of them are set where it was none */
		asm volatile("" : "+r"(differ));
		found |= differ >> 32 & i * sizeof(uint64_t);
	}
	return (uint64_t *)((uint8_t *)bucket + GW_BOUND(found, LB_FIND_MASK));
}

/* One that is small passes whatever path MTU is known. */
GW_INLINE bool lb_fast_fits(const struct gw_xdp_config *config, const struct gw_packet *packet,
	const struct gw_backend *backend)
{
	return !gw_encap_too_big(packet, backend, backend->mtu) &&
	       (!config->path_mtu_until ||
		       packet->l3_length + backend->overhead <= GW_PATH_MTU_MIN_IPV4);
}

/* The second, and whether control is there; the clock is read once for both. */
GW_INLINE bool lb_fast_clock(const struct gw_xdp_config *config, uint32_t *second)
{
	uint64_t ns = 0;

	if (!(config->flags & GW_XDP_CLOCK_STOPPED)) {
		ns = bpf_ktime_get_coarse_ns();
		if ((int64_t)(ns - config->heartbeat_ns) > (int64_t)GW_XDP_HEARTBEAT_STALE_NS)
			return false;
	}
	*second = lb_seconds_of(ns + config->clock_offset_ns);
	return true;
}

/* The frame is the ingress port's, and all of its packet is in this one buffer. */
GW_INLINE bool lb_fast_ours(const struct xdp_md *ctx, const struct gw_xdp_config *config,
	uint64_t macs, const struct gw_packet *packet)
{
	const uint8_t *mac = lb_mac(ctx, config);
	uint32_t length = packet->l3_offset + packet->l3_length;

	return (!mac || lb_mac_of(*(const uint64_t *)mac) == lb_mac_of(macs) ||
		       config->flags & GW_XDP_ANY_MAC) &&
	       length <= (uint32_t)(ctx->data_end - ctx->data) && length < LB_BUFFERS_FROM;
}

/*
 * What becomes of the flow's word. Nothing while the flow is established and its stamp is of this
 * very second, whatever the timeouts; false when it has expired.
 */
GW_INLINE bool lb_fast_next(const struct gw_xdp_config *config, uint64_t old,
	enum gw_flow_event event, uint32_t second, uint64_t *next)
{
	uint32_t settled =
		GW_FLOW_ESTABLISHED << GW_FLOW_STATE_SHIFT | (second & GW_FLOW_STAMP_MASK);

	*next = old;
	if (event == GW_FLOW_PACKET && ((uint32_t)old & LB_STATE_AND_STAMP) == settled)
		return true;
	*next = gw_flow_next(old, event, second);
	return !gw_flow_expired(old, second, &config->timeouts);
}

/* Returns the XDP action, LB_SLOW with nothing changed, or LB_OTHER with *out filled. */
GW_INLINE int lb_fast(struct xdp_md *ctx, uint8_t family, struct lb_outbound *out)
{
	uint32_t zero = 0, second;
	struct gw_xdp_config *config = lb_config();
	struct gw_counters *counters;
	const void *frame = (const void *)(long)ctx->data, *end = (const void *)(long)ctx->data_end;
	enum gw_flow_event event = GW_FLOW_PACKET;
	const struct gw_backend *backend;
	struct gw_packet packet = {};
	struct gw_flow_place place;
	const struct lb_claim *claim;
	struct gw_flow_bucket *bucket;
	uint64_t *word, old, next, macs, hash = 0;
	struct lb_way way = {};
	struct gw_choice choice = {.slot = GW_NONE, .flow = GW_TRACE_HIT};
	bool plain;
	int result;

	if (!config || !out || !lb_common_parse(frame, end, family, &packet, &macs))
		return LB_SLOW;
	place = gw_flow_place_in_family(
		&packet.key, family, config->flow_seed, config->bucket_count);
	bucket = lb_bucket_at(config, place.bucket);
	claim = lb_claim_at(&packet.key);
	if (!bucket || !claim || !lb_claim_is(claim, &packet.key, config->services_generation) ||
		!lb_fast_ours(ctx, config, macs, &packet) || !lb_fast_clock(config, &second))
		return LB_SLOW;
	if (packet.tcp_flags & (GW_TCP_FIN | GW_TCP_SYN | GW_TCP_RST))
		event = gw_flow_event_of(packet.protocol, packet.tcp_flags);
	word = lb_fast_find(bucket, place.tag);
	old = *(volatile uint64_t *)word;
	choice.backend = gw_flow_backend(old);
	backend = lb_backend_at(config, choice.backend);
	if (gw_flow_tag(old) != place.tag || !lb_fast_next(config, old, event, second, &next) ||
		!backend || !gw_backend_keeps_flow(backend, claim->pool, event == GW_FLOW_SYN) ||
		!lb_fast_fits(config, &packet, backend))
		return LB_SLOW;
	way.link = gw_link_load(&backend->link);
	plain = gw_encap_plain(backend, &way.link);
	if (gw_tracing || !plain || !packet.dont_fragment)
		hash = family == GW_IPV4 ? lb_fast_hash4(ctx, config->hash_seed, claim->affinity)
					 : lb_fast_hash6(ctx, config->hash_seed, claim->affinity);
	counters = bpf_map_lookup_elem(&gw_counters, &zero);
	if (!counters || !lb_way_from_link(config, hash, &way))
		return LB_SLOW;
	if (next != old)
		gw_flow_swap(word, old, next);
	counters->rx++;
	if (!lb_fast_cut(ctx, GW_ETH_HEADER + packet.l3_length))
		return lb_end(counters, GW_DROP_MALFORMED);
	if (!plain)
		return lb_leave_to_other(out, &packet, hash, claim->service, &choice, &way.link);
	result = lb_fast_encapsulate(ctx, &packet, hash, backend, &way.link);
	if (gw_tracing)
		lb_trace(result, claim->service, hash, &choice);
	if (result != LB_OK)
		return lb_end(counters, result);
	lb_count_sent(counters, choice.backend, claim->service, packet.l3_length, GW_TRACE_HIT);
	return lb_leave(counters, lb_action(ctx, &way));
}

/* One function a family: what differs between them is known to each. */
__noinline int lb_fast_ipv4(struct xdp_md *ctx, struct lb_outbound *out)
{
	return lb_fast(ctx, GW_IPV4, out);
}

__noinline int lb_fast_ipv6(struct xdp_md *ctx, struct lb_outbound *out)
{
	return lb_fast(ctx, GW_IPV6, out);
}
