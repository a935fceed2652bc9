/* SPDX-License-Identifier: BSD-2-Clause */
/* Buckets 0 ... count-1, all in use: they come and go at the end only. */
#include "chash/end.h"

#include <stdlib.h>

static void *end_create(const struct gw_chash_options *options)
{
	return calloc(1, sizeof(struct end_state));
}

static void *end_clone(const void *state)
{
	struct end_state *clone = malloc(sizeof(*clone));

	if (clone)
		*clone = *(const struct end_state *)state;
	return clone;
}

static int end_grow(void *state, uint32_t *bucket)
{
	struct end_state *end = state;

	if (end->count == GW_CHASH_BUCKETS_MAX)
		return GW_CHASH_ERR_BUCKETS;
	*bucket = end->count++;
	return 0;
}

static int end_shrink(void *state, uint32_t bucket)
{
	struct end_state *end = state;

	if (bucket + 1 != end->count)
		return GW_CHASH_ERR_NOT_LAST;
	end->count--;
	return 0;
}

static uint32_t end_span(const void *state)
{
	return ((const struct end_state *)state)->count;
}

static int end_restore(
	void *state, uint32_t span, const uint8_t *held, const uint32_t *removed, uint32_t count)
{
	struct end_state *end = state;

	for (uint32_t i = 0; i < span; i++)
		if (!held[i])
			return GW_CHASH_ERR_CONTENT;
	if (count)
		return GW_CHASH_ERR_CONTENT;
	end->count = span;
	return 0;
}

size_t end_memory(const struct gw_chash_view *view)
{
	return sizeof(struct end_state);
}

const struct bucket_ops end_buckets = {
	.create = end_create,
	.clone = end_clone,
	.destroy = free,
	.grow = end_grow,
	.shrink = end_shrink,
	.span = end_span,
	.restore = end_restore,
	.end_only = true,
};
