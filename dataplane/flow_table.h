/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The flow table: one for all workers, so that a flow is found from whichever core its packet, its
 * fragment or an ICMP error about it arrives on. Layout and rules are abi/flow_word.h's, the same
 * as in XDP: a word changes by compare-and-swap only; a flow has two candidate buckets, and the
 * second is looked at only when the first has no empty word.
 *
 * A lost race is harmless: whoever loses reads again, a bounded number of times, and in the worst
 * case the packet goes by the table and is not remembered.
 */
#pragma once

#include "abi/flow_place.h"
#include "abi/flow_sweep.h"
#include "abi/flow_word.h"
#include "flow_scan.h"

#include <rte_branch_prediction.h>
#include <rte_prefetch.h>

struct gw_flow_table {
	struct gw_flow_bucket *bucket;
	uint32_t buckets; /* even */
	int socket;
	uint64_t seed; /* random, drawn once */
	size_t size;   /* bytes of `bucket` */
};

/*
 * Room for `flows` tracked flows, two words each (gw_flow_buckets_for), in huge pages when EAL has
 * them, near NUMA node `socket`. Returns 0, -EINVAL (0 or over GW_FLOW_FLOWS_MAX) or -ENOMEM.
 */
int gw_flow_table_init(struct gw_flow_table *table, uint64_t flows, int socket);
void gw_flow_table_fini(struct gw_flow_table *table);

/* The flows that it has room for; there are GW_FLOW_WORDS_PER_FLOW times as many words. */
static inline uint64_t gw_flow_table_capacity(const struct gw_flow_table *table)
{
	return (uint64_t)table->buckets * GW_FLOW_BUCKET_FLOWS;
}

static inline struct gw_flow_place gw_flow_table_place(
	const struct gw_flow_table *table, const struct gw_flow_key *key)
{
	return gw_flow_place(key, table->seed, table->buckets);
}

static inline void gw_flow_prefetch(const struct gw_flow_table *table, struct gw_flow_place place)
{
	rte_prefetch0(&table->bucket[place.bucket]);
}

/* Where a flow stands: bucket << 3 | word, and what the word was. */
#define GW_FLOW_NOWHERE GW_NONE
/* Not in its first bucket, and may be in its second. */
#define GW_FLOW_SECOND (GW_NONE - 1)
_Static_assert(GW_FLOW_BUCKETS_MAX <= GW_FLOW_SECOND / GW_FLOW_BUCKET_WORDS, "slots have room");

/* The flow in one bucket: its slot, with what stood there in *word, or GW_FLOW_NOWHERE. */
static inline uint32_t gw_flow_in_bucket(
	const struct gw_flow_table *table, uint32_t bucket, uint32_t tag, uint64_t *word)
{
	const struct gw_flow_bucket *at = &table->bucket[bucket];

	for (uint32_t bits = gw_flow_tags(at, tag); bits; bits &= bits - 1) {
		uint32_t i = (uint32_t)__builtin_ctz(bits);
		uint64_t found = __atomic_load_n(&at->word[i], __ATOMIC_RELAXED);

		if (likely(gw_flow_tag(found) == tag && gw_flow_state(found) != GW_FLOW_FREE)) {
			*word = found;
			return bucket * GW_FLOW_BUCKET_WORDS + i;
		}
	}
	return GW_FLOW_NOWHERE;
}

/*
 * Finds a flow, expired or not, in the bucket that gw_flow_prefetch fetched. Returns its slot, and
 * in *word what stood there; GW_FLOW_NOWHERE; or GW_FLOW_SECOND, when gw_flow_second knows: that
 * bucket is now being fetched, so that a burst asks for it when the others of the burst had their
 * turn. Any thread.
 */
static inline uint32_t gw_flow_first(
	const struct gw_flow_table *table, struct gw_flow_place place, uint64_t *word)
{
	uint32_t slot = gw_flow_in_bucket(table, place.bucket, place.tag, word);

	if (likely(slot != GW_FLOW_NOWHERE) || gw_flow_empties(&table->bucket[place.bucket]))
		return slot;
	rte_prefetch0(
		&table->bucket[gw_flow_other_bucket(place.bucket, place.tag, table->buckets)]);
	return GW_FLOW_SECOND;
}

static inline uint32_t gw_flow_second(
	const struct gw_flow_table *table, struct gw_flow_place place, uint64_t *word)
{
	return gw_flow_in_bucket(table,
		gw_flow_other_bucket(place.bucket, place.tag, table->buckets), place.tag, word);
}

/* Both in one, for single packets. */
static inline uint32_t gw_flow_lookup(
	const struct gw_flow_table *table, struct gw_flow_place place, uint64_t *word)
{
	uint32_t slot = gw_flow_first(table, place, word);

	return slot == GW_FLOW_SECOND ? gw_flow_second(table, place, word) : slot;
}

/* The rest of gw_flow_touch: `next` is what the word is to become. */
void gw_flow_advance(struct gw_flow_table *table, uint32_t slot, uint64_t word, uint64_t next,
	enum gw_flow_event event, uint32_t now);

/*
 * Notes one more packet of a tracked flow that keeps its backend: state and stamp, by
 * compare-and-swap, only when they change. Any thread.
 */
static inline void gw_flow_touch(struct gw_flow_table *table, uint32_t slot, uint64_t word,
	enum gw_flow_event event, uint32_t now)
{
	uint64_t next = gw_flow_next(word, event, now);

	if (unlikely(next != word))
		gw_flow_advance(table, slot, word, next, event, now);
}

enum gw_flow_outcome {
	GW_FLOW_INSERTED,
	GW_FLOW_FOUND, /* another packet of the flow, or another worker, was first: *word */
	GW_FLOW_FULL,  /* nothing in either bucket may go */
};

/*
 * Remembers a flow that was not found, as NEW. When it is there by now and not expired (an earlier
 * packet of the same burst put it there), nothing changes and *slot and *word tell where and what.
 * Any thread.
 */
enum gw_flow_outcome gw_flow_insert(struct gw_flow_table *table, struct gw_flow_place place,
	uint32_t backend, uint32_t now, const struct gw_flow_timeouts *timeouts, uint32_t *slot,
	uint64_t *word);

/*
 * Moves a tracked flow to another backend, as NEW, in the place where it stands. Returns false when
 * the word is not `word` any more. Any thread.
 */
bool gw_flow_replace(
	struct gw_flow_table *table, uint32_t slot, uint64_t word, uint32_t backend, uint32_t now);
