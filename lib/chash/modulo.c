/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hash mod N: the baseline, which moves (N-1)/N of the keys when N changes. Members in order of
 * their ids, each as many times as it has weight. The owner of each number is written down, so that
 * a lookup is one division and one load.
 */
#include "chash/view.h"

#include <endian.h>
#include <stdlib.h>

static int modulo_build(struct gw_chash_view *view, struct chash_past *past)
{
	struct buckets *buckets = &view->buckets;

	if (view->weights > GW_CHASH_BUCKETS_MAX)
		return GW_CHASH_ERR_BUCKETS;
	buckets->owner = malloc((view->weights + 1) * sizeof(*buckets->owner));
	if (!buckets->owner)
		return GW_CHASH_ERR_MEMORY;
	for (uint32_t i = 0; i < view->count; i++) {
		struct gw_chash_member *member = &view->members[i];

		if (member->weight)
			member->bucket = buckets->span;
		for (uint32_t w = 0; w < member->weight; w++)
			buckets->owner[buckets->span++] = i;
	}
	buckets->room = buckets->span / 2; /* one array where others have two */
	return 0;
}

static uint32_t modulo_number(const struct gw_chash_view *view, uint64_t key)
{
	return (uint32_t)(key % view->buckets.span);
}

static uint32_t modulo_find(const struct gw_chash_view *view, uint64_t first, uint64_t second)
{
	return view->buckets.owner[modulo_number(view, first)];
}

static int modulo_walk(const struct gw_chash_view *view, uint64_t first, uint64_t second,
	bool (*visit)(void *context, uint32_t member), void *context)
{
	const struct buckets *buckets = &view->buckets;
	uint32_t at = modulo_number(view, first);

	for (uint32_t i = 0; i < buckets->span; i++) {
		if (!visit(context, buckets->owner[at]))
			break;
		at = at + 1 < buckets->span ? at + 1 : 0;
	}
	return 0;
}

const struct chash_ops chash_modulo = {
	.traits = {.name = "modulo",
		.title = "hash mod N",
		.buckets = true,
		.integer_keys = true,
		.exact_weights = true},
	.hash = GW_CHASH_XXH3,
	.build = modulo_build,
	.find = modulo_find,
	.bucket = modulo_number,
	.walk = modulo_walk,
};
