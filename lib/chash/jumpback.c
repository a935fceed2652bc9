/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * JumpBackHash (Ertl, "JumpBackHash: Say Goodbye to the Modulo Operation to Distribute Keys
 * Uniformly to Buckets", arXiv 2403.18682). The last bucket below the count at which a key would
 * have changed owner, had buckets been added one by one, is found from above: the ranges
 * [2^i, 2^(i+1)) are independent, the key changes owner in such a range with probability 1/2, and a
 * few random bits tell in which ranges it did and where it did last. Integer arithmetic only,
 * constant expected time.
 *
 * Random values come from a counter-based generator over the key; with a value per range the answer
 * for a range does not depend on the count, which is what makes the mapping consistent.
 */
#include "chash/end.h"
#include "chash/hash.h"

/* The value that decides, in the range that starts at 2^level, where the key was at the last full
 * range. */
static inline uint64_t level_draw(uint64_t key, uint32_t level, uint32_t attempt)
{
	return hash_pair(key, (uint64_t)attempt << 8 | (level + 1));
}

static inline uint32_t jumpback_bucket(uint64_t key, uint32_t count)
{
	uint64_t coins;
	uint32_t active;

	if (count < 2)
		return 0;
	/* Bit i says that the key changed owner somewhere in [2^i, 2^(i+1)). */
	coins = hash_mix(key);
	active = (uint32_t)(coins ^ coins >> 32) & (UINT32_MAX >> __builtin_clz(count - 1));
	while (active) {
		uint32_t level = 31 - (uint32_t)__builtin_clz(active);
		uint32_t lowest = 1u << level;
		/* Where it changed last, were the range complete. */
		uint32_t last = lowest + ((uint32_t)level_draw(key, level, 0) & (lowest - 1));

		if (last < count)
			return last;
		/* It is not: walk back until inside the count, or out of the range. */
		for (uint32_t attempt = 1;; attempt++) {
			uint32_t back =
				(uint32_t)level_draw(key, level, attempt) & (2 * lowest - 1);

			if (back < lowest)
				break;
			if (back < count)
				return back;
		}
		active ^= lowest;
	}
	return 0;
}

static uint32_t jumpback_number(const struct gw_chash_view *view, uint64_t key)
{
	return jumpback_bucket(key, end_count(view));
}

static uint32_t jumpback_find(const struct gw_chash_view *view, uint64_t first, uint64_t second)
{
	return buckets_owner(view, jumpback_number(view, first));
}

const struct chash_ops chash_jumpback = {
	.traits = {.name = "jumpback",
		.title = "JumpBackHash",
		.buckets = true,
		.integer_keys = true,
		.ordered = true,
		.end_only = true,
		.minimal = true,
		.exact_weights = true},
	.hash = GW_CHASH_XXH3,
	.buckets = &end_buckets,
	.build = buckets_build,
	.free = buckets_free,
	.find = jumpback_find,
	.bucket = jumpback_number,
	.walk = buckets_walk,
	.memory = end_memory,
	.dump = buckets_dump,
};
