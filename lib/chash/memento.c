/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * MementoHash (Coluzzi, Brocco, Antonucci, Leidi, "MementoHash: A Stateful, Minimal Memory, Best
 * Performing Consistent Hash Algorithm", arXiv 2306.09783). Jump over all bucket numbers there are,
 * and a memory of those that left, no fixed capacity: a bucket that leaves remembers how many were
 * at work just after, which is at the same time who took its place among them. A key that Jump
 * sends to it is hashed again among those. The last to leave is the first to return; when nobody is
 * away and the highest leaves, it is just forgotten.
 *
 * The memory is a hash table with open addressing. It follows from the order of leaving, which is
 * therefore all that is serialised.
 */
#include "chash/buckets.h"
#include "chash/hash.h"
#include "chash/jump.h"

#include <stdlib.h>
#include <string.h>

struct absent {
	uint32_t bucket;  /* GW_CHASH_NONE: an empty place */
	uint32_t working; /* how many were at work after it left */
};

struct memento {
	uint32_t span;
	uint32_t removed;
	uint32_t room; /* of the order, and half that of the table */
	uint32_t mask;
	uint32_t *order; /* buckets in the order they left */
	struct absent *table;
};

static void memento_destroy(void *state)
{
	struct memento *memento = state;

	if (!memento)
		return;
	free(memento->order);
	free(memento->table);
	free(memento);
}

static inline struct absent *memento_place(const struct memento *memento, uint32_t bucket)
{
	uint32_t at = (uint32_t)(bucket * 0x9e3779b97f4a7c15ull >> 32) & memento->mask;

	while (memento->table[at].bucket != GW_CHASH_NONE && memento->table[at].bucket != bucket)
		at = (at + 1) & memento->mask;
	return &memento->table[at];
}

/* Makes room for twice as many, or for `room` the first time. */
static int memento_widen(struct memento *memento, uint32_t room)
{
	uint32_t *order = realloc(memento->order, room * sizeof(*order));
	struct absent *table;

	if (!order)
		return GW_CHASH_ERR_MEMORY;
	memento->order = order;
	table = malloc(2ull * room * sizeof(*table));
	if (!table)
		return GW_CHASH_ERR_MEMORY;
	memset(table, 0xff, 2ull * room * sizeof(*table));
	struct absent *old = memento->table;
	uint32_t old_places = old ? memento->mask + 1 : 0;

	memento->table = table;
	memento->mask = 2 * room - 1;
	memento->room = room;
	for (uint32_t i = 0; i < old_places; i++)
		if (old[i].bucket != GW_CHASH_NONE)
			*memento_place(memento, old[i].bucket) = old[i];
	free(old);
	return 0;
}

static void *memento_create(const struct gw_chash_options *options)
{
	struct memento *memento = calloc(1, sizeof(*memento));

	if (memento && memento_widen(memento, 4) < 0) {
		memento_destroy(memento);
		return NULL;
	}
	return memento;
}

static void *memento_clone(const void *state)
{
	const struct memento *from = state;
	struct memento *memento = malloc(sizeof(*memento));

	if (!memento)
		return NULL;
	*memento = *from;
	memento->order = malloc(from->room * sizeof(*from->order));
	memento->table = malloc(2ull * from->room * sizeof(*from->table));
	if (!memento->order || !memento->table) {
		memento_destroy(memento);
		return NULL;
	}
	memcpy(memento->order, from->order, from->removed * sizeof(*from->order));
	memcpy(memento->table, from->table, 2ull * from->room * sizeof(*from->table));
	return memento;
}

static int memento_remember(struct memento *memento, uint32_t bucket)
{
	int status = 0;

	if (memento->removed == memento->room)
		status = memento_widen(memento, memento->room * 2);
	if (status < 0)
		return status;
	memento->order[memento->removed++] = bucket;
	*memento_place(memento, bucket) = (struct absent){bucket, memento->span - memento->removed};
	return 0;
}

/* Takes an entry out, and closes the gap it would leave in the chain of those behind it. */
static void memento_forget(struct memento *memento, uint32_t bucket)
{
	struct absent *gap = memento_place(memento, bucket);
	uint32_t at = (uint32_t)(gap - memento->table);

	gap->bucket = GW_CHASH_NONE;
	for (;;) {
		at = (at + 1) & memento->mask;
		struct absent moved = memento->table[at];

		if (moved.bucket == GW_CHASH_NONE)
			return;
		memento->table[at].bucket = GW_CHASH_NONE;
		*memento_place(memento, moved.bucket) = moved;
	}
}

static int memento_grow(void *state, uint32_t *bucket)
{
	struct memento *memento = state;

	if (memento->removed) {
		*bucket = memento->order[--memento->removed];
		memento_forget(memento, *bucket);
		return 0;
	}
	if (memento->span == GW_CHASH_BUCKETS_MAX)
		return GW_CHASH_ERR_BUCKETS;
	*bucket = memento->span++;
	return 0;
}

static int memento_shrink(void *state, uint32_t bucket)
{
	struct memento *memento = state;

	if (!memento->removed && bucket + 1 == memento->span) {
		memento->span--;
		return 0;
	}
	return memento_remember(memento, bucket);
}

static uint32_t memento_span(const void *state)
{
	return ((const struct memento *)state)->span;
}

static uint32_t memento_history(const void *state, uint32_t *removed)
{
	const struct memento *memento = state;

	if (removed)
		memcpy(removed, memento->order, memento->removed * sizeof(*removed));
	return memento->removed;
}

static int memento_restore(
	void *state, uint32_t span, const uint8_t *held, const uint32_t *removed, uint32_t count)
{
	struct memento *memento = state;
	uint32_t in_use = 0;

	for (uint32_t b = 0; b < span; b++)
		in_use += held[b];
	if (count > span || in_use + count != span)
		return GW_CHASH_ERR_CONTENT;
	memento->span = span;
	for (uint32_t i = 0; i < count; i++) {
		int status;

		if (removed[i] >= span || held[removed[i]] ||
			memento_place(memento, removed[i])->bucket != GW_CHASH_NONE)
			return GW_CHASH_ERR_CONTENT;
		status = memento_remember(memento, removed[i]);
		if (status < 0)
			return status;
	}
	/* The highest never leaves first: it would have been forgotten. */
	return count && removed[0] + 1 == span ? GW_CHASH_ERR_CONTENT : 0;
}

/* ---- lookups ----------------------------------------------------------------------------- */

/* How many were at work after this bucket left, GW_CHASH_NONE for one that has not. */
static inline uint32_t memento_working(const struct memento *memento, uint32_t bucket)
{
	const struct absent *place = memento_place(memento, bucket);

	return place->bucket == GW_CHASH_NONE ? GW_CHASH_NONE : place->working;
}

static inline uint32_t memento_bucket(const struct memento *memento, uint64_t key)
{
	uint32_t bucket = jump_bucket(key, memento->span);
	uint32_t among, next;

	if (!memento->removed)
		return bucket;
	while ((among = memento_working(memento, bucket)) != GW_CHASH_NONE) {
		bucket = hash_reduce(hash_pair(key, bucket), among);
		while ((next = memento_working(memento, bucket)) != GW_CHASH_NONE && next >= among)
			bucket = next;
	}
	return bucket;
}

static uint32_t memento_number(const struct gw_chash_view *view, uint64_t key)
{
	return memento_bucket(view->state, key);
}

static uint32_t memento_find(const struct gw_chash_view *view, uint64_t first, uint64_t second)
{
	return buckets_owner(view, memento_bucket(view->state, first));
}

static size_t memento_memory(const struct gw_chash_view *view)
{
	const struct memento *memento = view->state;

	return sizeof(*memento) + memento->room * (sizeof(uint32_t) + 2 * sizeof(struct absent));
}

static const struct bucket_ops memento_buckets = {
	.create = memento_create,
	.clone = memento_clone,
	.destroy = memento_destroy,
	.grow = memento_grow,
	.shrink = memento_shrink,
	.span = memento_span,
	.history = memento_history,
	.restore = memento_restore,
};

const struct chash_ops chash_memento = {
	.traits = {.name = "memento",
		.title = "MementoHash",
		.buckets = true,
		.integer_keys = true,
		.ordered = true,
		.minimal = true,
		.exact_weights = true},
	.alias = "mementohash",
	.hash = GW_CHASH_XXH3,
	.buckets = &memento_buckets,
	.build = buckets_build,
	.free = buckets_free,
	.find = memento_find,
	.bucket = memento_number,
	.walk = buckets_walk,
	.memory = memento_memory,
	.dump = buckets_dump,
};
