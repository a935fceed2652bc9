/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * The common packet: a common frame (lb_common.h) to a service that a claim tells (lb_claims.h), of
 * a flow whose word is in the first of its two buckets, to a backend that may keep it; or to a
 * service that tracks no flows. It does what the whole program would do, by the same rules, and
 * leaves out what is sure to be asked in vain. As soon as something else turns up, the packet is
 * left to the whole program, which begins anew; until then nothing is changed.
 *
 * The order is the memory's: the bucket is the one line that is likely to be in no cache, so it is
 * asked for as soon as its place is known, and whatever does not need it is done before it is
 * looked at. What does need it has to be short: the processor holds only so many instructions that
 * wait.
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

#define LB_TCP_EVENTS (GW_TCP_FIN | GW_TCP_SYN | GW_TCP_RST)

#define LB_STATE_AND_STAMP ((3u << GW_FLOW_STATE_SHIFT) | GW_FLOW_STAMP_MASK)

/*
 * The hash that picks the slot, of a frame that is known to be a common one and is as it came. The
 * key is read again, so that the many packets that need no such hash do not carry it along.
 */
GW_INLINE uint64_t lb_fast_hash(
	struct xdp_md *ctx, uint8_t family, uint64_t seed, uint32_t affinity)
{
	const uint8_t *ip = (const uint8_t *)(long)ctx->data + GW_ETH_HEADER;
	uint32_t header = family == GW_IPV4 ? GW_IPV4_HEADER : GW_IPV6_HEADER;
	struct gw_flow_key key = {};
	uint32_t source, destination;

	if (ip + header + 4 > (const uint8_t *)(long)ctx->data_end)
		return 0;
	if (family == GW_IPV4) {
		source = GW_WIRE_LOAD(uint32_t, ip + 12);
		destination = GW_WIRE_LOAD(uint32_t, ip + 16);
		gw_address_set_ipv4(&key.source, &source);
		gw_address_set_ipv4(&key.destination, &destination);
		key.protocol = ip[9];
	} else {
		for (int i = 0; i < 2; i++) {
			((uint64_t *)&key.source)[i] = GW_WIRE_LOAD(uint64_t, ip + 8 + 8 * i);
			((uint64_t *)&key.destination)[i] = GW_WIRE_LOAD(uint64_t, ip + 24 + 8 * i);
		}
		key.protocol = ip[6];
	}
	*(uint32_t *)&key.source_port = GW_WIRE_LOAD(uint32_t, ip + header); /* and the other */
	gw_flow_key_reduce(&key, (uint8_t)affinity);
	return gw_flow_hash(&key, seed);
}

static __noinline uint64_t lb_fast_hash4(struct xdp_md *ctx, uint64_t seed, uint32_t affinity)
{
	return lb_fast_hash(ctx, GW_IPV4, seed, affinity);
}

static __noinline uint64_t lb_fast_hash6(struct xdp_md *ctx, uint64_t seed, uint32_t affinity)
{
	return lb_fast_hash(ctx, GW_IPV6, seed, affinity);
}

GW_INLINE uint64_t lb_fast_hash_of(struct xdp_md *ctx, uint8_t family,
	const struct gw_xdp_config *config, const struct lb_answer *answer)
{
	return family == GW_IPV4 ? lb_fast_hash4(ctx, config->hash_seed, answer->affinity)
				 : lb_fast_hash6(ctx, config->hash_seed, answer->affinity);
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

/* The head of a backend's entry, which says what to do with a packet, read in two. */
#define LB_HEAD_WORDS 2

union lb_head {
	uint64_t word[LB_HEAD_WORDS];
	struct gw_backend entry; /* addresses and link are not there */
};
_Static_assert(
	__builtin_offsetof(struct gw_backend, outer_source) == LB_HEAD_WORDS * sizeof(uint64_t),
	"the head is what comes before the addresses");

GW_INLINE void lb_head_read(const struct gw_backend *backend, union lb_head *head)
{
	for (int i = 0; i < LB_HEAD_WORDS; i++)
		head->word[i] = *((const volatile uint64_t *)backend + i);
}

/*
 * What the outer headers look like, of the head's second word: one number, so that one comparison
 * knows it. What varies by flow or has a tag is of no kind here; GUE with a checksum is told by
 * gw_encap_wants_sum.
 */
#define LB_KIND(encap_, family_)                                                                   \
	((const union lb_head){.entry = {.encap = (encap_), .family = (family_)}}.word[1])
#define LB_KIND_MASK                                                                               \
	((const union lb_head){.entry = {.encap = 0xff,                                            \
				       .family = 0xff,                                             \
				       .flags = GW_BACKEND_FLOW_LABEL,                             \
				       .source_bits = 0xff}}                                       \
			.word[1])

GW_INLINE bool lb_kind_ipip(uint64_t kind)
{
	return kind == LB_KIND(GW_ENCAP_IPIP, GW_IPV4) || kind == LB_KIND(GW_ENCAP_IPIP, GW_IPV6);
}

/* IP in IP, or GUE whose checksum is 0. */
GW_INLINE bool lb_kind_written(uint64_t kind, const struct gw_backend *head)
{
	if (lb_kind_ipip(kind))
		return true;
	return (kind == LB_KIND(GW_ENCAP_GUE, GW_IPV4) || kind == LB_KIND(GW_ENCAP_GUE, GW_IPV6)) &&
	       !gw_encap_wants_sum(head);
}

/* Makes room and writes the headers; encap and family are constants. */
GW_INLINE bool lb_fast_write(struct xdp_md *ctx, uint8_t encap, uint8_t family,
	const struct gw_packet *packet, uint64_t hash, const struct gw_backend *head,
	const struct gw_backend *backend, const struct gw_link *link)
{
	uint32_t ip_header = family == GW_IPV4 ? GW_IPV4_HEADER : GW_IPV6_HEADER;
	uint32_t overhead = gw_encap_overhead_of(encap, family);
	struct gw_outer outer = gw_encap_outer_plain(backend, packet, overhead);
	uint8_t *frame, *ip;

	if (bpf_xdp_adjust_head(ctx, -(int)overhead))
		return false;
	frame = (uint8_t *)(long)ctx->data;
	ip = frame + GW_ETH_HEADER;
	if (ip + overhead > (uint8_t *)(long)ctx->data_end)
		return false;
	gw_encap_macs(frame, link);
	gw_wire_store16(frame + 12, gw_encap_ethertype(family));
	if (encap == GW_ENCAP_GUE)
		outer.protocol = GW_PROTO_UDP;
	if (family == GW_IPV4)
		gw_encap_ipv4(ip, backend, packet, hash, &outer);
	else
		gw_encap_ipv6(ip, backend, packet, &outer);
	if (encap == GW_ENCAP_GUE)
		gw_encap_gue_write(ip + ip_header, head->gue_port, packet, hash, 0);
	return true;
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
	const struct gw_backend *head)
{
	return !gw_encap_too_big(packet, head, head->mtu) &&
	       (!config->path_mtu_until ||
		       packet->l3_length + head->overhead <= GW_PATH_MTU_MIN_IPV4);
}

/* The frame is the ingress port's, and all of its packet is in this one buffer. */
GW_INLINE bool lb_fast_ours(const struct xdp_md *ctx, const struct gw_xdp_config *config,
	uint64_t macs, const struct gw_packet *packet)
{
	const uint8_t *mac = config->port_mac[0];
	uint32_t length = packet->l3_offset + packet->l3_length;

	if (config->port_ifindex[0] != ctx->ingress_ifindex || !*(const uint64_t *)mac)
		mac = lb_mac(ctx, config);
	return (!mac || lb_mac_of(*(const uint64_t *)mac) == lb_mac_of(macs) ||
		       config->flags & GW_XDP_ANY_MAC) &&
	       length <= (uint32_t)(ctx->data_end - ctx->data) && length < LB_BUFFERS_FROM;
}

/* The place of a flow of TCP or UDP, the protocols of common frames: their class by a shift. */
GW_INLINE struct gw_flow_place lb_fast_place(
	const struct gw_xdp_config *config, const struct gw_flow_key *key, uint8_t family)
{
	struct gw_flow_place place =
		gw_flow_place_in_family(key, family, config->flow_seed, config->bucket_count);

	_Static_assert((GW_PROTO_TCP >> 4) + 1 == GW_CLASS_TCP &&
			       (GW_PROTO_UDP >> 4) + 1 == GW_CLASS_UDP && GW_CLASS_COUNT == 4,
		"two bits, of which a shift makes these");
	place.tag = (place.tag & ~3u) | ((key->protocol >> 4) + 1u);
	return place;
}

/* A tracked flow whose word is in its first bucket. */
struct lb_fast_flow {
	uint64_t *word;
	uint64_t old; /* what the word was when it was looked at */
	uint32_t second;
};

/*
 * The backend of a flow that may stay there, its id in *id and its head in *head; or NULL. Whether
 * it has expired is asked of each, for that is no question to guess; what becomes of the word is
 * (lb_fast_advance).
 */
GW_INLINE const struct gw_backend *lb_fast_tracked(const struct gw_xdp_config *config,
	struct gw_flow_bucket *bucket, uint32_t tag, const struct gw_packet *packet, uint32_t pool,
	struct lb_fast_flow *flow, uint32_t *id, union lb_head *head)
{
	const struct gw_backend *backend;

	flow->word = lb_fast_find(bucket, tag);
	flow->old = *(volatile uint64_t *)flow->word;
	*id = gw_flow_backend(flow->old);
	backend = lb_backend_at(config, *id);
	if (gw_flow_tag(flow->old) != tag || !backend)
		return NULL;
	lb_head_read(backend, head);
	if (head->entry.pool != pool)
		return NULL;
	if (head->entry.state != GW_BACKEND_ACTIVE &&
		!gw_backend_keeps_flow(&head->entry, pool,
			gw_flow_event_of(GW_PROTO_TCP, packet->tcp_flags) == GW_FLOW_SYN))
		return NULL;
	return gw_flow_expired(flow->old, flow->second, &config->timeouts) ? NULL : backend;
}

/*
 * What becomes of the flow's word: nothing while the flow is established and its stamp is of this
 * very second. With many flows nobody can predict that, and what stands behind a wrong guess is
 * done again once the bucket's line is there: so it is the last thing of all.
 */
GW_INLINE void lb_fast_advance(const struct lb_fast_flow *flow, uint8_t tcp_flags)
{
	uint32_t settled =
		GW_FLOW_ESTABLISHED << GW_FLOW_STATE_SHIFT | (flow->second & GW_FLOW_STAMP_MASK);
	uint64_t next;

	if (!(tcp_flags & LB_TCP_EVENTS) && ((uint32_t)flow->old & LB_STATE_AND_STAMP) == settled)
		return;
	next = gw_flow_next(flow->old, gw_flow_event_of(GW_PROTO_TCP, tcp_flags), flow->second);
	if (next != flow->old)
		gw_flow_swap(flow->word, flow->old, next);
}

/* That of the pool's table. */
GW_INLINE const struct gw_backend *lb_fast_by_table(const struct gw_xdp_config *config,
	uint32_t pool, uint64_t hash, struct gw_choice *choice, union lb_head *head)
{
	const struct gw_backend *backend;

	choice->flow = GW_TRACE_TABLE_ONLY;
	choice->backend = lb_table_at(config, pool, hash, &choice->slot);
	backend = lb_backend_at(config, choice->backend);
	if (backend)
		lb_head_read(backend, head);
	return backend;
}

static __noinline void lb_fast_trace(
	int result, uint64_t hash, uint32_t service, uint64_t backend_and_slot, uint32_t flow)
{
	struct gw_choice choice = {.backend = (uint32_t)(backend_and_slot >> 32),
		.slot = (uint32_t)backend_and_slot,
		.flow = flow};

	lb_trace(result, service, hash, &choice);
}

/* The headers are lb_other's to write. */
GW_INLINE int lb_fast_leave(struct xdp_md *ctx, const struct gw_xdp_config *config,
	struct gw_counters *counters, const struct gw_packet *packet, uint64_t hash,
	uint32_t service, const struct gw_choice *choice, struct lb_way *way)
{
	struct lb_outbound *out = lb_outbound();

	if (!out || !lb_way_from_link(config, hash, way))
		return LB_SLOW;
	counters->rx++;
	if (!lb_fast_cut(ctx, GW_ETH_HEADER + packet->l3_length))
		return lb_end(counters, GW_DROP_MALFORMED);
	return lb_leave_to_other(out, packet, hash, service, choice, &way->link);
}

#define LB_FAST_WRITE(encap, family)                                                               \
	lb_fast_write(ctx, encap, family, packet, hash, head, backend, &way->link)

/* Sends a packet of a kind that the short way writes; returns the XDP action. */
GW_INLINE int lb_fast_send(struct xdp_md *ctx, struct gw_counters *counters,
	const struct gw_packet *packet, uint64_t hash, uint64_t kind, const struct gw_backend *head,
	const struct gw_backend *backend, uint32_t service, const struct gw_choice *choice,
	const struct lb_way *way)
{
	bool written;

	counters->rx++;
	if (!lb_fast_cut(ctx, GW_ETH_HEADER + packet->l3_length))
		return lb_end(counters, GW_DROP_MALFORMED);
	if (kind == LB_KIND(GW_ENCAP_IPIP, GW_IPV4))
		written = LB_FAST_WRITE(GW_ENCAP_IPIP, GW_IPV4);
	else if (kind == LB_KIND(GW_ENCAP_IPIP, GW_IPV6))
		written = LB_FAST_WRITE(GW_ENCAP_IPIP, GW_IPV6);
	else if (kind == LB_KIND(GW_ENCAP_GUE, GW_IPV4))
		written = LB_FAST_WRITE(GW_ENCAP_GUE, GW_IPV4);
	else
		written = LB_FAST_WRITE(GW_ENCAP_GUE, GW_IPV6);
	if (gw_tracing)
		lb_fast_trace(written ? LB_OK : GW_DROP_NO_HEADROOM, hash, service,
			(uint64_t)choice->backend << 32 | choice->slot, choice->flow);
	if (!written)
		return lb_end(counters, GW_DROP_NO_HEADROOM);
	lb_count_sent(counters, choice->backend, service, packet->l3_length, GW_TRACE_HIT);
	if (way->ifindex == ctx->ingress_ifindex)
		return XDP_TX;
	return lb_leave(counters, (int)bpf_redirect_map(&gw_tx_ports, way->link.port, 0));
}

/* To the backend that was chosen; what lb_fast returns. `hash` is 0 while it was not computed. */
GW_INLINE int lb_fast_to(struct xdp_md *ctx, const struct gw_xdp_config *config,
	struct gw_counters *counters, uint8_t family, const struct gw_packet *packet,
	const struct lb_answer *answer, uint64_t hash, const struct gw_backend *backend,
	const union lb_head *head, const struct gw_choice *choice)
{
	uint64_t kind = head->word[1] & LB_KIND_MASK;
	struct lb_way way = {.link = gw_link_load(&backend->link)};

	if (!hash && (!lb_kind_ipip(kind) || way.link.flags & GW_LINK_MULTIPATH))
		hash = lb_fast_hash_of(ctx, family, config, answer);
	if (way.link.flags != GW_LINK_RESOLVED || !lb_kind_written(kind, &head->entry))
		return lb_fast_leave(
			ctx, config, counters, packet, hash, answer->service, choice, &way);
	if (!lb_way_by_port(config, &way))
		return LB_SLOW;
	return lb_fast_send(ctx, counters, packet, hash, kind, &head->entry, backend,
		answer->service, choice, &way);
}

/* Of a service that tracks no flows. */
GW_INLINE int lb_fast_untracked(struct xdp_md *ctx, const struct gw_xdp_config *config,
	struct gw_counters *counters, uint8_t family, uint64_t macs, const struct gw_packet *packet,
	const struct lb_answer *answer)
{
	uint64_t hash = lb_fast_hash_of(ctx, family, config, answer);
	struct gw_choice choice = {.slot = GW_NONE};
	const struct gw_backend *backend;
	union lb_head head;

	if (!lb_fast_ours(ctx, config, macs, packet) || lb_heartbeat_stale(config))
		return LB_SLOW;
	backend = lb_fast_by_table(config, answer->pool, hash, &choice, &head);
	if (!backend || !lb_fast_fits(config, packet, &head.entry))
		return LB_SLOW;
	return lb_fast_to(
		ctx, config, counters, family, packet, answer, hash, backend, &head, &choice);
}

/* Returns the XDP action, LB_SLOW, or LB_OTHER with lb_outbound filled. */
GW_INLINE int lb_fast(struct xdp_md *ctx, uint8_t family)
{
	uint32_t zero = 0;
	struct gw_xdp_config *config = lb_config();
	struct gw_counters *counters = bpf_map_lookup_elem(&gw_counters, &zero);
	const void *frame = (const void *)(long)ctx->data, *end = (const void *)(long)ctx->data_end;
	struct gw_choice choice = {.slot = GW_NONE, .flow = GW_TRACE_HIT};
	const struct gw_backend *backend;
	struct gw_flow_bucket *bucket;
	struct gw_packet packet = {};
	struct gw_flow_place place;
	struct lb_fast_flow flow;
	struct lb_answer answer;
	const void *claim;
	uint64_t macs, hash = 0; /* 0: not computed, as good as always */
	union lb_head head;
	int result;

	if (!config || !counters || !lb_common_parse(frame, end, family, &packet, &macs))
		return LB_SLOW;
	claim = lb_claim_at(&packet.key, family);
	if (!claim)
		return LB_SLOW;
	if (!lb_claim_is(claim, &packet.key, family, config->services_generation) &&
		!(family == GW_IPV4 ? lb_claim_make4(ctx) : lb_claim_make6(ctx)))
		return LB_SLOW;
	answer = lb_claim_answer(claim, family);
	if (answer.untracked)
		return lb_fast_untracked(ctx, config, counters, family, macs, &packet, &answer);
	place = lb_fast_place(config, &packet.key, family);
	bucket = lb_bucket_at(config, place.bucket);
	if (!bucket)
		return LB_SLOW;
	(void)*(volatile uint64_t *)bucket->word;
	if (!lb_fast_ours(ctx, config, macs, &packet) || lb_heartbeat_stale(config))
		return LB_SLOW;
	flow.second = lb_seconds_seen(config); /* the heartbeat had it looked at */
	if (gw_tracing || answer.hashed || !packet.dont_fragment)
		hash = lb_fast_hash_of(ctx, family, config, &answer);
	backend = lb_fast_tracked(
		config, bucket, place.tag, &packet, answer.pool, &flow, &choice.backend, &head);
	if (!backend || !lb_fast_fits(config, &packet, &head.entry))
		return LB_SLOW;
	result = lb_fast_to(
		ctx, config, counters, family, &packet, &answer, hash, backend, &head, &choice);
	if (result != LB_SLOW)
		lb_fast_advance(&flow, packet.tcp_flags);
	return result;
}

/* One function a family: what differs between them is known to each. */
__noinline int lb_fast_ipv4(struct xdp_md *ctx)
{
	return lb_fast(ctx, GW_IPV4);
}

__noinline int lb_fast_ipv6(struct xdp_md *ctx)
{
	return lb_fast(ctx, GW_IPV6);
}
