/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A worker's memory of services: which one an address, a protocol and a port lead to, as the whole
 * look-up (service.c) said, for as long as service addresses and their ports stay as they are. It
 * remembers TCP and UDP only, and never that there is no service: what it does not have goes the
 * long road.
 *
 * Ten thousand services do not fit a core's first caches beside all else, so what a service takes
 * here is small: twelve bytes of a bucket of one cache line, whose five names are compared at once
 * without a branch that would be guessed wrong. The name of an IPv4 address, protocol and port is
 * these themselves. That of an IPv6 one is 63 bits of a hash with the flow table's random seed, so
 * that nobody can aim at a service's name with another address.
 *
 * A name has three buckets; all but a few are in their first. Buckets of an older epoch count as
 * empty, so nothing is wiped when services change. When all three are full one entry makes way:
 * clients can fill the memory only with the ports of a service that has many, and then pay the long
 * road's price themselves.
 */
#pragma once

#include "abi/wire.h"
#include "pipeline.h"

#include <string.h>
#ifdef __SSE4_1__
#	include <smmintrin.h>
#endif

#define GW_SERVICE_SEEN_WAYS   5
#define GW_SERVICE_SEEN_PLACES 3
#define GW_SERVICE_SEEN_FEW    256  /* spans, in a memory as sparse as the smallest is */
#define GW_SERVICE_SEEN_MIN    1024 /* buckets */
#define GW_SERVICE_SEEN_MAX    32768

struct gw_service_seen {
	uint64_t name[GW_SERVICE_SEEN_WAYS]; /* 0: none, from here on */
	uint32_t word[GW_SERVICE_SEEN_WAYS]; /* gw_service_word */
	uint32_t epoch;			     /* of the worker's; 0: never used */
};
_Static_assert(sizeof(struct gw_service_seen) == GW_CACHE_LINE, "a bucket is one cache line");

/*
 * What the packet path needs of a service, so that its record need not be read: its index, its
 * pool and its way with flows.
 */
#define GW_SERVICE_WORD_UNTRACKED 0x10000u
#define GW_SERVICE_WORD_5TUPLE	  0x20000u
#define GW_SERVICE_WORD_POOL	  20 /* the pool's id begins at this bit */
_Static_assert(GW_MAX_SERVICES <= 1 << 16 && GW_MAX_POOLS <= 1 << (32 - GW_SERVICE_WORD_POOL),
	"an index and a pool fit");

static inline uint32_t gw_service_word(const struct gw_service *service, uint32_t index)
{
	uint32_t word = index | service->pool << GW_SERVICE_WORD_POOL;

	if (service->flags & GW_SERVICE_UNTRACKED)
		word |= GW_SERVICE_WORD_UNTRACKED;
	if (service->affinity == GW_AFFINITY_5TUPLE)
		word |= GW_SERVICE_WORD_5TUPLE;
	return word;
}

static inline uint32_t gw_service_of_word(uint32_t word)
{
	return word & (GW_MAX_SERVICES - 1);
}

/* What a packet's service is remembered by: of a key of that family; the flow table's secrets. Only
 * where keys are words (GW_KEY_IN_WORDS).
 */
static __rte_always_inline uint64_t gw_service_name(
	const struct gw_flow_secrets *secrets, uint8_t family, const uint64_t key[GW_KEY_WORDS])
{
	/* The destination's port and the protocol: 24 bits. */
	uint64_t name = (key[4] >> 16) << 32;

	if (family == GW_IPV4)
		name |= key[3] >> 32;
	else
		name = (name ^ gw_key_mix(&secrets->word[3], key[2], key[3])) | 1ull << 63;
	return name;
}

/*
 * Its three buckets. Services mostly have neighbouring addresses or ports, of which one
 * multiplication makes a lattice: even, or every third one in a full bucket, as it happens. The
 * shifts around it leave what chance would, one in fifty.
 */
static __rte_always_inline uint32_t gw_service_seen_place(
	uint64_t name, uint32_t place, uint32_t mask)
{
	uint64_t mixed = (name ^ name >> 29) * 0x9e3779b97f4a7c15;

	return (uint32_t)((mixed ^ mixed >> 32) >> (16 + 16 * place)) & mask;
}

/* Which of a bucket's names it is, and 4 if it is none of the first four. */
static __rte_always_inline uint32_t gw_service_seen_way(
	const struct gw_service_seen *bucket, uint64_t name)
{
#ifdef __SSE4_1__
	const __m128i *at = (const void *)bucket->name;
	__m128i wanted = _mm_set1_epi64x((long long)name);
	__m128i first = _mm_cmpeq_epi64(at[0], wanted), second = _mm_cmpeq_epi64(at[1], wanted);
	int truths = _mm_movemask_ps(_mm_shuffle_ps(
		_mm_castsi128_ps(first), _mm_castsi128_ps(second), _MM_SHUFFLE(2, 0, 2, 0)));

	return (uint32_t)__builtin_ctz((uint32_t)truths | 1u << 4);
#else
	uint32_t way = 4;

#	pragma GCC unroll 4
	for (uint32_t n = 0; n < 4; n++)
		way = bucket->name[n] == name ? n : way;
	return way;
#endif
}

/* Is the name in a bucket? *word is its service's word then, else anything. Without a branch. */
static __rte_always_inline bool gw_service_seen_in(
	const struct gw_service_seen *bucket, uint32_t epoch, uint64_t name, uint32_t *word)
{
	uint32_t way = gw_service_seen_way(bucket, name);

	*word = bucket->word[way];
	return !((bucket->name[way] ^ name) | (bucket->epoch ^ epoch));
}

/* The service's word, or GW_NONE when the worker has not met it. */
static inline uint32_t gw_service_seen_find(
	const struct gw_service_seen *memory, uint32_t mask, uint32_t epoch, uint64_t name)
{
	uint32_t word;

	for (uint32_t place = 0; place < GW_SERVICE_SEEN_PLACES; place++)
		if (gw_service_seen_in(
			    &memory[gw_service_seen_place(name, place, mask)], epoch, name, &word))
			return word;
	return GW_NONE;
}

/* The same, where few services are: mostly it is the first of its bucket. */
static __rte_always_inline uint32_t gw_service_seen_find_first(
	const struct gw_service_seen *memory, uint32_t mask, uint32_t epoch, uint64_t name)
{
	const struct gw_service_seen *bucket = &memory[gw_service_seen_place(name, 0, mask)];

	if (likely(bucket->name[0] == name) && likely(bucket->epoch == epoch))
		return bucket->word[0];
	return gw_service_seen_find(memory, mask, epoch, name);
}

/* The bucket that has room for a name, emptied if it is of an older epoch; else its first. */
static inline struct gw_service_seen *gw_service_seen_room(
	struct gw_worker *worker, uint64_t name, uint32_t *way)
{
	struct gw_service_seen *bucket;

	for (uint32_t place = 0; place < GW_SERVICE_SEEN_PLACES; place++) {
		bucket = &worker->service_seen[gw_service_seen_place(
			name, place, worker->service_seen_mask)];
		if (bucket->epoch != worker->service_seen_epoch)
			*bucket = (struct gw_service_seen){.epoch = worker->service_seen_epoch};
		for (*way = 0; *way < GW_SERVICE_SEEN_WAYS; (*way)++)
			if (!bucket->name[*way] || bucket->name[*way] == name)
				return bucket;
	}
	*way = (uint32_t)(name % GW_SERVICE_SEEN_WAYS);
	return &worker->service_seen[gw_service_seen_place(name, 0, worker->service_seen_mask)];
}

static inline void gw_service_seen_put(
	struct gw_worker *worker, const struct gw_flow_key *key, uint32_t service_word)
{
	struct gw_service_seen *bucket;
	uint64_t name;
	uint64_t word[GW_KEY_WORDS];
	uint32_t way;

	if (key->protocol != GW_PROTO_TCP && key->protocol != GW_PROTO_UDP)
		return;
	memcpy(word, key, sizeof(word));
	name = gw_service_name(&worker->flow_secrets,
		gw_address_is_ipv4(&key->destination) ? GW_IPV4 : GW_IPV6, word);
	bucket = gw_service_seen_room(worker, name, &way);
	bucket->name[way] = name;
	bucket->word[way] = service_word;
}

/*
 * Service addresses and ports are others from now on, `span_count` spans of ports: all that the
 * worker remembers is of the last ones.
 */
static inline void gw_service_seen_forget(struct gw_worker *worker, uint32_t span_count)
{
	uint32_t room = GW_SERVICE_SEEN_MIN;

	while (room < GW_SERVICE_SEEN_MAX && room * GW_SERVICE_SEEN_WAYS < 2 * span_count)
		room *= 2;
	worker->service_seen_mask = room - 1;
	worker->service_seen_many = span_count > GW_SERVICE_SEEN_FEW;
	worker->service_seen_epoch++;
}
