/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * DxHash (Dong, Wang, "DxHash: A Scalable Consistent Hash Based on the Pseudo-Random Sequence",
 * arXiv 2107.07930). Each key has a pseudo-random sequence of buckets; the first that is in use
 * owns it. The state is one bit a bucket.
 *
 * A sequence is followed for 4,096 steps at most; a key that has met nobody by then, which happens
 * where less than a thousandth of the capacity is in use, goes to the bucket in use whose own
 * hash with the key is largest. Both rules rank all buckets for each key, whatever is in use, so
 * movement stays minimal. A new bucket is the lowest number free.
 */
#include "chash/buckets.h"
#include "chash/hash.h"

#include <stdlib.h>
#include <string.h>

#define STEPS 4096

struct dx {
	uint32_t capacity;
	uint32_t lowest; /* no bucket below is free */
	uint64_t in_use[];
};

static size_t dx_size(uint32_t capacity)
{
	return sizeof(struct dx) + (capacity / 64 + 1) * sizeof(uint64_t);
}

static void *dx_create(const struct gw_chash_options *options)
{
	struct dx *dx = calloc(1, dx_size(options->capacity));

	if (dx)
		dx->capacity = options->capacity;
	return dx;
}

static void *dx_clone(const void *state)
{
	size_t size = dx_size(((const struct dx *)state)->capacity);
	void *clone = malloc(size);

	return clone ? memcpy(clone, state, size) : NULL;
}

static inline bool dx_used(const struct dx *dx, uint32_t bucket)
{
	return dx->in_use[bucket / 64] >> (bucket % 64) & 1;
}

static int dx_grow(void *state, uint32_t *bucket)
{
	struct dx *dx = state;

	while (dx->lowest < dx->capacity && dx_used(dx, dx->lowest))
		dx->lowest++;
	if (dx->lowest == dx->capacity)
		return GW_CHASH_ERR_CAPACITY;
	dx->in_use[dx->lowest / 64] |= 1ull << (dx->lowest % 64);
	*bucket = dx->lowest++;
	return 0;
}

static int dx_shrink(void *state, uint32_t bucket)
{
	struct dx *dx = state;

	dx->in_use[bucket / 64] &= ~(1ull << (bucket % 64));
	if (bucket < dx->lowest)
		dx->lowest = bucket;
	return 0;
}

static uint32_t dx_span(const void *state)
{
	return ((const struct dx *)state)->capacity;
}

static int dx_restore(
	void *state, uint32_t span, const uint8_t *held, const uint32_t *removed, uint32_t count)
{
	struct dx *dx = state;

	if (span != dx->capacity || count)
		return GW_CHASH_ERR_CONTENT;
	for (uint32_t b = 0; b < span; b++)
		if (held[b])
			dx->in_use[b / 64] |= 1ull << (b % 64);
	return 0;
}

/* ---- lookups ----------------------------------------------------------------------------- */

static uint32_t dx_largest(const struct dx *dx, uint64_t key)
{
	uint64_t largest = 0;
	uint32_t best = 0;

	for (uint32_t word = 0; word <= dx->capacity / 64; word++) {
		for (uint64_t bits = dx->in_use[word]; bits; bits &= bits - 1) {
			uint32_t bucket = word * 64 + (uint32_t)__builtin_ctzll(bits);
			uint64_t hash = hash_pair(key, (1ull << 32) + bucket);

			if (hash >= largest) {
				largest = hash;
				best = bucket;
			}
		}
	}
	return best;
}

static inline uint32_t dx_bucket(const struct dx *dx, uint64_t key)
{
	for (uint32_t step = 0; step < STEPS; step++) {
		uint32_t bucket = hash_reduce(hash_pair(key, step), dx->capacity);

		if (dx_used(dx, bucket))
			return bucket;
	}
	return dx_largest(dx, key);
}

static uint32_t dx_number(const struct gw_chash_view *view, uint64_t key)
{
	return dx_bucket(view->state, key);
}

static uint32_t dx_find(const struct gw_chash_view *view, uint64_t first, uint64_t second)
{
	return buckets_owner(view, dx_bucket(view->state, first));
}

static size_t dx_memory(const struct gw_chash_view *view)
{
	return dx_size(((const struct dx *)view->state)->capacity);
}

static const struct bucket_ops dx_buckets = {
	.create = dx_create,
	.clone = dx_clone,
	.destroy = free,
	.grow = dx_grow,
	.shrink = dx_shrink,
	.span = dx_span,
	.restore = dx_restore,
	.sorts_new = true,
};

const struct chash_ops chash_dx = {
	.traits = {.name = "dx",
		.title = "DxHash",
		.buckets = true,
		.integer_keys = true,
		.ordered = true,
		.minimal = true,
		.needs_capacity = true,
		.exact_weights = true},
	.alias = "dxhash",
	.hash = GW_CHASH_XXH3,
	.buckets = &dx_buckets,
	.check = buckets_capacity_check,
	.build = buckets_build,
	.free = buckets_free,
	.find = dx_find,
	.bucket = dx_number,
	.walk = buckets_walk,
	.memory = dx_memory,
	.dump = buckets_dump,
};
