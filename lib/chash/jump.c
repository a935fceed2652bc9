/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Jump consistent hash (Lamping and Veach, "A Fast, Minimal Memory, Consistent Hash Algorithm",
 * arXiv 1406.2294): a generator seeded with the key jumps from bucket to bucket, ever further, and
 * the last one below the count is the answer. No state but the count, logarithmic time. The mapping
 * depends on the order in which members were added, and only the last can leave.
 */
#include "chash/jump.h"

#include "chash/end.h"

static uint32_t jump_number(const struct gw_chash_view *view, uint64_t key)
{
	return jump_bucket(key, end_count(view));
}

static uint32_t jump_find(const struct gw_chash_view *view, uint64_t first, uint64_t second)
{
	return buckets_owner(view, jump_number(view, first));
}

const struct chash_ops chash_jump = {
	.traits = {.name = "jump",
		.title = "Jump",
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
	.find = jump_find,
	.bucket = jump_number,
	.walk = buckets_walk,
	.memory = end_memory,
	.dump = buckets_dump,
};
