/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * FlipHash (Masson and Lee, "FlipHash: A Constant-Time Consistent Range-Hashing Algorithm",
 * arXiv 2402.17549). Over a power of two, bits of a hash are the bucket, except that the bits
 * below the highest set one are flipped by a hash that depends on where that one is: so going from
 * 2^r to 2^(r+1) buckets, a key stays, or goes anywhere in the new half. Between powers, a key
 * whose bucket does not exist yet draws again from the larger range: the first draw in the half
 * that exists anyway sends it back to the smaller power, the first new and existing one takes it.
 * Constant time in the mean and in the worst case, for the draws are limited.
 */
#include "chash/end.h"
#include "chash/hash.h"

#define DRAWS 64 /* the chance to need more is 2^-64 */

static inline uint32_t highest_bit(uint32_t value)
{
	return 31 - (uint32_t)__builtin_clz(value);
}

static inline uint32_t flip_draw(uint64_t key, uint32_t level, uint32_t attempt)
{
	return (uint32_t)(hash_pair(key, (uint64_t)attempt << 8 | level) >> 32);
}

/* A bucket of 0 ... mask, mask + 1 a power of two. */
static inline uint32_t flip_power(uint64_t key, uint32_t hash, uint32_t mask)
{
	uint32_t bucket = hash & mask, level;

	if (!bucket)
		return 0;
	level = highest_bit(bucket);
	return bucket ^ (flip_draw(key, level, 0) & ((1u << level) - 1));
}

static inline uint32_t flip_bucket(uint64_t key, uint32_t count)
{
	uint32_t last = count - 1, hash, mask, bucket, level;

	if (!last)
		return 0;
	level = highest_bit(last);
	mask = UINT32_MAX >> (31 - level);
	hash = (uint32_t)hash_mix(key);
	bucket = flip_power(key, hash, mask);
	if (bucket <= last)
		return bucket;
	for (uint32_t attempt = 1; attempt <= DRAWS; attempt++) {
		bucket = flip_draw(key, level, attempt) & mask;
		if (bucket <= mask >> 1)
			break;
		if (bucket <= last)
			return bucket;
	}
	return flip_power(key, hash, mask >> 1);
}

static uint32_t flip_number(const struct gw_chash_view *view, uint64_t key)
{
	return flip_bucket(key, end_count(view));
}

static uint32_t flip_find(const struct gw_chash_view *view, uint64_t first, uint64_t second)
{
	return buckets_owner(view, flip_number(view, first));
}

const struct chash_ops chash_flip = {
	.traits = {.name = "flip",
		.title = "FlipHash",
		.buckets = true,
		.integer_keys = true,
		.ordered = true,
		.end_only = true,
		.minimal = true,
		.exact_weights = true},
	.alias = "fliphash",
	.hash = GW_CHASH_XXH3,
	.buckets = &end_buckets,
	.build = buckets_build,
	.free = buckets_free,
	.find = flip_find,
	.bucket = flip_number,
	.walk = buckets_walk,
	.memory = end_memory,
	.dump = buckets_dump,
};
