/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * What guideway-bench's feeders write: the frame of one flow of a case, picked at random, in turn,
 * or one that nobody has seen yet. The frames are those of bench_frame_write
 * (tools/bench/frames/frames.c), bit for bit: user space leaves their headers here as templates,
 * and only what differs from flow to flow is computed (source address and port, service address,
 * both checksums).
 *
 * A program's `feed` is one global variable, so one CPU feeds at a time.
 */
#pragma once

#include "abi/types.h"

#define BENCH_FEED_HEADERS 80 /* Ethernet, IPv6, TCP: 74 */
/* A share of packets is so many of 2^24. */
#define BENCH_FEED_WHOLE (1u << 24)

/* The headers of flow 0's frame. The sums are of 16-bit words in host order, not folded. */
struct bench_feed_head {
	uint8_t bytes[BENCH_FEED_HEADERS];
	uint32_t ip_sum;  /* IPv4's header without the addresses */
	uint32_t tcp_sum; /* all of it without the addresses and the source port */
};

enum bench_feed_kind { BENCH_FEED_ACK, BENCH_FEED_SYN, BENCH_FEED_KINDS };

struct bench_feed {
	/* The program's, from packet to packet. */
	uint64_t random;
	uint64_t next;	 /* in_turn: the next flow, less `first` */
	uint64_t fresh;	 /* the next flow that nobody has seen */
	uint64_t flow;	 /* of the last frame … */
	uint32_t kind;	 /* … and which of the heads it has */
	uint32_t failed; /* frames that had no room */
	/* User space's, between runs. */
	uint64_t first;	      /* flows first … first + flows - 1 */
	uint64_t flows;	      /* 1 to 2^32 - 1 */
	uint32_t in_turn;     /* 1: one after the other; 0: at random */
	uint32_t fresh_share; /* of BENCH_FEED_WHOLE: SYNs of flows from `fresh` on */
	uint32_t services;
	uint32_t frame_length;
	uint32_t source;  /* IPv4 address of client 0, host order */
	uint32_t service; /* IPv4 address of service 0, or the last 32 bits of the IPv6 one */
	uint32_t source_bits;
	uint32_t port, ports; /* the lowest source port, and how many */
	uint32_t reserved;
	struct bench_feed_head head[BENCH_FEED_KINDS];
};

/* Places of the feeders' program array: what a feeder of bench_feeder.bpf.c calls. */
enum bench_feed_next {
	BENCH_NEXT_BALANCER,
	BENCH_NEXT_BOUND,
	BENCH_NEXT_NOTHING,
	BENCH_NEXT_COUNT,
};

#ifdef GW_BPF
#	include <linux/bpf.h>

#	include <bpf/bpf_helpers.h>

#	define FEED_TCP_V4 34
#	define FEED_TCP_V6 54
#	define FEED_END_V4 54
#	define FEED_END_V6 74

/* Each field by one store of its own width: what reads it must not wait for two to meet. */
#	define FEED_LOAD(type, at)	    (*(const type *)(head->bytes + (at)))
#	define FEED_STORE(type, at, value) (*(type *)(frame + (at)) = (value))
#	define FEED_COPY(type, at)	    FEED_STORE(type, at, FEED_LOAD(type, at))

GW_INLINE uint64_t feed_pair(uint32_t first, uint32_t second)
{
	const uint32_t words[2] = {first, second};
	uint64_t pair;

	__builtin_memcpy(&pair, words, sizeof(pair));
	return pair;
}

GW_INLINE uint32_t feed_sum32(uint32_t value)
{
	return (value >> 16) + (value & 0xffff);
}

GW_INLINE uint16_t feed_fold(uint32_t sum)
{
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return GW_HTONS(~sum);
}

/* Knuth's MMIX generator; its high half is what is random enough. */
GW_INLINE uint64_t feed_choose(struct bench_feed *feed)
{
	uint64_t random = feed->random * 6364136223846793005ull + 1442695040888963407ull;
	uint64_t flow;

	feed->random = random;
	feed->kind = BENCH_FEED_ACK;
	if ((random >> 8 & (BENCH_FEED_WHOLE - 1)) < feed->fresh_share) {
		feed->kind = BENCH_FEED_SYN;
		return feed->fresh++;
	}
	if (!feed->in_turn)
		return feed->first + ((random >> 32) * feed->flows >> 32);
	flow = feed->next;
	feed->next = flow + 1 < feed->flows ? flow + 1 : 0;
	return feed->first + flow;
}

struct feed_fields {
	uint32_t client, service;
	uint16_t port;
	uint32_t sum; /* of these three */
};

/* Division of 64 bits is dear, and rare are the flows that need it. */
GW_INLINE uint32_t feed_modulo(uint64_t value, uint32_t by)
{
	return value >> 32 ? (uint32_t)(value % by) : (uint32_t)value % by;
}

GW_INLINE struct feed_fields feed_fields(const struct bench_feed *feed, uint64_t flow)
{
	uint32_t bits = feed->source_bits & 31;
	struct feed_fields fields;

	fields.client = feed->source + (uint32_t)(flow & ((1u << bits) - 1));
	fields.service = feed->service;
	if (feed->services > 1)
		fields.service += feed_modulo(flow, feed->services);
	fields.port = (uint16_t)(feed->port + feed_modulo(flow >> bits, feed->ports));
	fields.sum = feed_sum32(fields.client) + feed_sum32(fields.service) + fields.port;
	return fields;
}

GW_INLINE void feed_ethernet(uint8_t *frame, const struct bench_feed_head *head)
{
	FEED_COPY(uint64_t, 0);
	FEED_COPY(uint32_t, 8);
	FEED_COPY(uint16_t, 12);
}

GW_INLINE void feed_tcp(uint8_t *frame, const struct bench_feed_head *head, uint32_t at,
	const struct feed_fields *fields)
{
	const uint16_t ports[2] = {GW_HTONS(fields->port), FEED_LOAD(uint16_t, at + 2)};
	const uint16_t sums[2] = {feed_fold(head->tcp_sum + fields->sum), 0};
	uint32_t both;

	__builtin_memcpy(&both, ports, sizeof(both));
	FEED_STORE(uint64_t, at, feed_pair(both, FEED_LOAD(uint32_t, at + 4)));
	FEED_COPY(uint64_t, at + 8);
	__builtin_memcpy(&both, sums, sizeof(both));
	FEED_STORE(uint32_t, at + 16, both);
}

GW_INLINE void feed_ipv4(
	uint8_t *frame, const struct bench_feed_head *head, const struct feed_fields *fields)
{
	const uint16_t words[2] = {
		FEED_LOAD(uint16_t, 22), feed_fold(head->ip_sum + fields->sum - fields->port)};
	uint32_t both;

	FEED_COPY(uint64_t, 14);
	__builtin_memcpy(&both, words, sizeof(both));
	FEED_STORE(uint32_t, 22, both);
	FEED_STORE(uint64_t, 26, feed_pair(GW_HTONL(fields->client), GW_HTONL(fields->service)));
	feed_tcp(frame, head, FEED_TCP_V4, fields);
}

GW_INLINE void feed_ipv6(
	uint8_t *frame, const struct bench_feed_head *head, const struct feed_fields *fields)
{
	FEED_COPY(uint64_t, 14);
	FEED_COPY(uint64_t, 22);
	FEED_STORE(uint64_t, 30, feed_pair(FEED_LOAD(uint32_t, 30), GW_HTONL(fields->client)));
	FEED_COPY(uint64_t, 38);
	FEED_STORE(uint64_t, 46, feed_pair(FEED_LOAD(uint32_t, 46), GW_HTONL(fields->service)));
	feed_tcp(frame, head, FEED_TCP_V6, fields);
}

/* Both MACs of a frame, read as 8 and 4 bytes, written the other way round. */
GW_INLINE void feed_macs_swapped(uint8_t *frame, uint64_t first, uint32_t second)
{
	FEED_STORE(uint32_t, 0, (uint32_t)(first >> 48) | second << 16);
	FEED_STORE(uint16_t, 4, (uint16_t)(second >> 16));
	FEED_STORE(uint32_t, 6, (uint32_t)first);
	FEED_STORE(uint16_t, 10, (uint16_t)(first >> 32));
}

/*
 * Makes the frame, whatever a program that ran before has put in front of it, the next one. False:
 * there is no room for it.
 */
GW_INLINE bool feed_frame(struct xdp_md *ctx, struct bench_feed *feed, bool ipv6)
{
	uint64_t length = (uint64_t)((void *)(long)ctx->data_end - (void *)(long)ctx->data);
	const struct bench_feed_head *head;
	struct feed_fields fields;
	uint8_t *frame;

	/* Pointers are subtracted first: the verifier wants no unknown number added to one. */
	asm volatile("" : "+r"(length));
	/* Also when there is nothing to move, so that it always costs the same. */
	if (bpf_xdp_adjust_head(ctx, (int)(length - feed->frame_length)))
		return false;
	frame = (uint8_t *)(long)ctx->data;
	if (frame + (ipv6 ? FEED_END_V6 : FEED_END_V4) > (uint8_t *)(long)ctx->data_end)
		return false;
	feed->flow = feed_choose(feed);
	fields = feed_fields(feed, feed->flow);
	head = &feed->head[feed->kind & 1];
	feed_ethernet(frame, head);
	if (ipv6)
		feed_ipv6(frame, head, &fields);
	else
		feed_ipv4(frame, head, &fields);
	return true;
}
#endif
