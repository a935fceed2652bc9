/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * One tracked flow is one 64-bit word, changed only by compare-and-swap:
 *
 *	63          32 31        14 13  12 11       0
 *	+-------------+------------+------+----------+
 *	|     tag     |  backend   | state|  stamp   |
 *	+-------------+------------+------+----------+
 *
 * tag      high half of the flow's second hash (flow_place.h).
 *          Its lowest two bits are replaced by the timeout class, which ageing needs and the word
 *          else lacks, the third by the lowest bit of the flow's first bucket
 * backend  global backend id
 * state    FREE, NEW (one packet seen), ESTABLISHED (a second that is no SYN), CLOSING (FIN or RST
 *          seen)
 * stamp    second of the last packet, modulo 4096; a sweeper retires words before the stamp wraps,
 *          which is why no timeout may exceed GW_FLOW_TIMEOUT_MAX
 *
 * A bucket is 8 words, one cache line. A flow has two candidate buckets; the second is looked at
 * only when the first holds no empty word (zero): an empty word says that nothing has overflowed
 * from here. Hence a word that is given up becomes retired, not empty; a sweeper empties it when
 * nothing that overflowed from its bucket is left (flow_sweep.h).
 *
 * The number of buckets is any even one, so that a table is as large as was asked for: the first
 * bucket is a hash scaled to that number, the second the difference of the first and a number that
 * the tag gives. That number is odd, so one of a flow's two buckets is even and the other odd, and
 * the tag tells which of the two a word stands in.
 */
#pragma once

#include "abi/key.h"
#include "abi/types.h"
#include "abi/verifier.h"

#define GW_FLOW_BUCKET_WORDS   8
#define GW_FLOW_STAMP_MASK     0xfffu
#define GW_FLOW_BACKEND_BITS   18
#define GW_FLOW_BACKEND_SHIFT  14
#define GW_FLOW_BACKEND_MAX    ((1u << GW_FLOW_BACKEND_BITS) - 1)
#define GW_FLOW_STATE_SHIFT    12
#define GW_FLOW_TIMEOUT_MAX    3600 /* seconds */
#define GW_FLOW_SWEEP_INTERVAL 60   /* seconds at most between two visits of one word */
#define GW_FLOW_STAMP_SKEW     64   /* seconds by which a stamp may lie ahead of a reader's clock */

enum gw_flow_state {
	GW_FLOW_FREE = 0,
	GW_FLOW_NEW = 1,
	GW_FLOW_ESTABLISHED = 2,
	GW_FLOW_CLOSING = 3,
};

/* Empty (zero), and retired: free, but no more than that; with the second of it as stamp. */
#define GW_FLOW_EMPTY	0ull
#define GW_FLOW_RETIRED (1ull << 32)

/* Timeout classes, kept in the tag's lowest bits. */
enum gw_flow_class {
	GW_CLASS_OTHER = 0,
	GW_CLASS_TCP = 1,
	GW_CLASS_UDP = 2,
	GW_CLASS_SCTP = 3,
	GW_CLASS_COUNT = 4,
};

/* Seconds by [class][state]; the FREE column is zero. */
struct gw_flow_timeouts {
	uint16_t seconds[GW_CLASS_COUNT][4];
};
_Static_assert(sizeof(struct gw_flow_timeouts) == 32, "timeouts are shared as 32 bytes");

struct gw_flow_bucket {
	uint64_t word[GW_FLOW_BUCKET_WORDS];
} __attribute__((aligned(GW_CACHE_LINE)));
_Static_assert(sizeof(struct gw_flow_bucket) == GW_CACHE_LINE, "a bucket is one cache line");

/*
 * A table has two words for each flow that it is asked to hold: 16 bytes, at which some 0.02 % of
 * the flows find both of their buckets full, and 1 % live in their second one.
 */
#define GW_FLOW_WORDS_PER_FLOW 2
#define GW_FLOW_BUCKET_FLOWS   (GW_FLOW_BUCKET_WORDS / GW_FLOW_WORDS_PER_FLOW)
#define GW_FLOW_BUCKETS_MAX    (1u << 28)
#define GW_FLOW_FLOWS_MAX      ((uint64_t)GW_FLOW_BUCKETS_MAX * GW_FLOW_BUCKET_FLOWS)

/* Buckets of a table for so many flows; `flows` is 1 to GW_FLOW_FLOWS_MAX. Even. */
GW_INLINE uint32_t gw_flow_buckets_for(uint64_t flows)
{
	return (uint32_t)((flows + 2 * GW_FLOW_BUCKET_FLOWS - 1) / (2 * GW_FLOW_BUCKET_FLOWS)) * 2;
}

/* Where a flow lives: its tag and its first bucket. */
struct gw_flow_place {
	uint32_t tag;
	uint32_t bucket;
};

GW_INLINE uint32_t gw_flow_class_of(uint8_t protocol)
{
	return protocol == GW_PROTO_TCP	   ? GW_CLASS_TCP
	       : protocol == GW_PROTO_UDP  ? GW_CLASS_UDP
	       : protocol == GW_PROTO_SCTP ? GW_CLASS_SCTP
					   : GW_CLASS_OTHER;
}

/* A 32-bit hash scaled to 0 … range - 1, by a multiplication (Lemire, "Fast random integer
 * generation in an interval", 2019: without the rejection, whose bias is nothing here). */
GW_INLINE uint32_t gw_flow_scale(uint32_t hash, uint32_t range)
{
	return (uint32_t)((uint64_t)hash * range >> 32);
}

/* The place of a key whose seeded hash is `h`. `buckets`: how many the table has; even. */
GW_INLINE struct gw_flow_place gw_flow_place_of(uint64_t h, uint8_t protocol, uint32_t buckets)
{
	struct gw_flow_place place;

	place.bucket = gw_flow_scale((uint32_t)h, buckets);
	place.tag =
		((uint32_t)(h >> 32) & ~7u) | (place.bucket & 1) << 2 | gw_flow_class_of(protocol);
	return place;
}

/* The other candidate bucket, from either of the two (it is its own inverse). */
GW_INLINE uint32_t gw_flow_other_bucket(uint32_t bucket, uint32_t tag, uint32_t buckets)
{
	uint32_t sum = gw_flow_scale((tag >> 2) * 0x9e3779b1u, buckets) | 1;
	int32_t other = (int32_t)(sum - bucket); /* GW_FLOW_BUCKETS_MAX leaves room for a sign */

	/* Plus all buckets where it is negative; a branch would be guessed wrong. */
	return (uint32_t)other + (buckets & (uint32_t)(other >> 31));
}

/* Does a word with this tag stand in the second of its flow's buckets? */
GW_INLINE bool gw_flow_overflowed(uint32_t bucket, uint32_t tag)
{
	return ((tag >> 2 ^ bucket) & 1) != 0;
}

GW_INLINE uint64_t gw_flow_word(uint32_t tag, uint32_t backend, uint32_t state, uint32_t now)
{
	return (uint64_t)tag << 32 |
	       (uint64_t)(backend & GW_FLOW_BACKEND_MAX) << GW_FLOW_BACKEND_SHIFT |
	       (uint64_t)(state & 3) << GW_FLOW_STATE_SHIFT | (now & GW_FLOW_STAMP_MASK);
}

GW_INLINE uint32_t gw_flow_tag(uint64_t word)
{
	return (uint32_t)(word >> 32);
}

GW_INLINE uint32_t gw_flow_backend(uint64_t word)
{
	return (uint32_t)(word >> GW_FLOW_BACKEND_SHIFT) & GW_FLOW_BACKEND_MAX;
}

GW_INLINE uint32_t gw_flow_state(uint64_t word)
{
	return (uint32_t)(word >> GW_FLOW_STATE_SHIFT) & 3;
}

GW_INLINE uint32_t gw_flow_stamp(uint64_t word)
{
	return (uint32_t)word & GW_FLOW_STAMP_MASK;
}

/*
 * Seconds since the flow's last packet; `now` is the monotonic clock in seconds. Two CPUs may read
 * the clock on either side of a second's turn, so that a stamp lies ahead of `now`: its age is 0,
 * not 4095, or the flow would look expired. No true age gets that high (timeout plus one sweep).
 */
GW_INLINE uint32_t gw_flow_age(uint64_t word, uint32_t now)
{
	uint32_t age = (now - (uint32_t)word) & GW_FLOW_STAMP_MASK;

	return age > GW_FLOW_STAMP_MASK - GW_FLOW_STAMP_SKEW ? 0 : age;
}

GW_INLINE bool gw_flow_expired(uint64_t word, uint32_t now, const struct gw_flow_timeouts *timeouts)
{
	uint32_t state = gw_flow_state(word);

	return state == GW_FLOW_FREE ||
	       gw_flow_age(word, now) > timeouts->seconds[gw_flow_tag(word) & 3][state];
}

_Static_assert(
	GW_FLOW_TIMEOUT_MAX + GW_FLOW_SWEEP_INTERVAL + GW_FLOW_STAMP_SKEW <= GW_FLOW_STAMP_MASK,
	"ages, sweeps and skew fit the stamp");

/* What a packet tells the flow table. */
enum gw_flow_event {
	GW_FLOW_PACKET = 0, /* anything that is neither of the others */
	GW_FLOW_SYN = 1,    /* TCP SYN without ACK */
	GW_FLOW_END = 2,    /* TCP FIN or RST */
};

#define GW_TCP_FIN 0x01
#define GW_TCP_SYN 0x02
#define GW_TCP_RST 0x04
#define GW_TCP_ACK 0x10

GW_INLINE enum gw_flow_event gw_flow_event_of(uint8_t protocol, uint8_t tcp_flags)
{
	if (protocol != GW_PROTO_TCP)
		return GW_FLOW_PACKET;
	if (tcp_flags & (GW_TCP_FIN | GW_TCP_RST))
		return GW_FLOW_END;
	return (tcp_flags & (GW_TCP_SYN | GW_TCP_ACK)) == GW_TCP_SYN ? GW_FLOW_SYN : GW_FLOW_PACKET;
}

/*
 * The word after one more packet of a tracked flow that keeps its backend. A SYN never promotes; on
 * a CLOSING flow it starts a new connection. A half-closed flow stays CLOSING and is refreshed.
 */
GW_INLINE uint64_t gw_flow_next(uint64_t word, enum gw_flow_event event, uint32_t now)
{
	uint32_t state = gw_flow_state(word);

	if (event == GW_FLOW_END)
		state = GW_FLOW_CLOSING;
	else if (event == GW_FLOW_SYN)
		state = state == GW_FLOW_CLOSING ? GW_FLOW_NEW : state;
	else if (state == GW_FLOW_NEW)
		state = GW_FLOW_ESTABLISHED;
	return gw_flow_word(gw_flow_tag(word), gw_flow_backend(word), state, now);
}

/* Index of the flow's word, or GW_FLOW_BUCKET_WORDS. */
GW_INLINE uint32_t gw_flow_find(const struct gw_flow_bucket *bucket, uint32_t tag)
{
#pragma GCC unroll 8
	for (uint32_t i = 0; i < GW_FLOW_BUCKET_WORDS; i++) {
		uint64_t word = *(const volatile uint64_t *)&bucket->word[i];

		if (gw_flow_tag(word) == tag && gw_flow_state(word) != GW_FLOW_FREE)
			return (uint32_t)GW_FORGET(i, word);
	}
	return GW_FLOW_BUCKET_WORDS;
}

/* True while some word of the bucket is empty: then no flow that overflowed from it is left. */
GW_INLINE bool gw_flow_bucket_has_empty(const struct gw_flow_bucket *bucket)
{
	bool empty = false;

#pragma GCC unroll 8
	for (uint32_t i = 0; i < GW_FLOW_BUCKET_WORDS; i++)
		empty |= *(const volatile uint64_t *)&bucket->word[i] == GW_FLOW_EMPTY;
	return empty;
}

/*
 * How gladly a word is given up for a new flow; higher is gladder, 0 is never. Used ones before
 * empty ones: a bucket that keeps an empty word is the only one that is looked at. From
 * GW_FLOW_RANK_EMPTY on nobody loses his place.
 */
#define GW_FLOW_RANK_EXPIRED (5u << 12)
#define GW_FLOW_RANK_EMPTY   (4u << 12)
#define GW_FLOW_RANK_CLOSING (3u << 12)
#define GW_FLOW_RANK_NEW     (2u << 12)

GW_INLINE uint32_t gw_flow_rank(
	uint64_t word, uint32_t now, const struct gw_flow_timeouts *timeouts)
{
	if (word == GW_FLOW_EMPTY)
		return GW_FLOW_RANK_EMPTY;
	if (gw_flow_expired(word, now, timeouts))
		return GW_FLOW_RANK_EXPIRED;
	if (gw_flow_state(word) == GW_FLOW_CLOSING)
		return GW_FLOW_RANK_CLOSING;
	if (gw_flow_state(word) == GW_FLOW_NEW)
		return GW_FLOW_RANK_NEW + gw_flow_age(word, now);
	return 0;
}

struct gw_flow_victim {
	uint32_t
		index; /* below GW_FLOW_BUCKET_WORDS, or equal to it when nothing may be replaced */
	uint32_t rank;
	uint64_t word; /* what stood there: the expected value of the compare-and-swap */
};

/*
 * The word of a bucket that a new flow may take: empty, expired, closing, then the oldest NEW;
 * never an established flow. The caller takes the better of the two buckets (the first on a tie of
 * class EMPTY or EXPIRED), so that floods of single packets only ever push out each other.
 */
GW_INLINE struct gw_flow_victim gw_flow_find_victim(
	const struct gw_flow_bucket *bucket, uint32_t now, const struct gw_flow_timeouts *timeouts)
{
	struct gw_flow_victim best = {.index = GW_FLOW_BUCKET_WORDS, .rank = 0, .word = 0};
	uint64_t highest = 0;

	/* Rank and place in one number: a comparison orders by rank, then by the lower place. */
#pragma GCC unroll 8
	for (uint32_t i = 0; i < GW_FLOW_BUCKET_WORDS; i++) {
		uint64_t word = *(const volatile uint64_t *)&bucket->word[i];
		uint64_t score = GW_FORGET((uint64_t)gw_flow_rank(word, now, timeouts) << 3 |
						   (GW_FLOW_BUCKET_WORDS - 1 - i),
			word);

		if (score > highest) {
			highest = score;
			best.word = word;
		}
	}
	best.rank = (uint32_t)(highest >> 3);
	if (best.rank)
		best.index = GW_FLOW_BUCKET_WORDS - 1 - (uint32_t)(highest & 7);
	return best;
}

/* Returns true when the word was `old` and is now `new`. */
GW_INLINE bool gw_flow_swap(uint64_t *word, uint64_t old, uint64_t new_word)
{
	return __sync_val_compare_and_swap(word, old, new_word) == old;
}
