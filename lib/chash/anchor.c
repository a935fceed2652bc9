/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * AnchorHash (Mendelson, Vargaftik, Barabash, Lorenz, Keslassy, Orda, "AnchorHash: A Scalable
 * Consistent Hash", arXiv 1812.09674, the implementation of its algorithm 3). Capacity is fixed; a
 * bucket that leaves remembers how many were at work just after (A), and who took its place among
 * them (K); a key that falls on it is hashed again among those. W is the set at work, L where in W
 * a bucket is, R the order of leaving: the last to leave is the first to return.
 *
 * All of it follows from R, which is therefore all that is serialised. A and K of a bucket lie
 * together, so a lookup touches one cache line per step.
 */
#include "chash/buckets.h"
#include "chash/hash.h"

#include <stdlib.h>
#include <string.h>

struct anchor_bucket {
	uint32_t a, k;
};

struct anchor {
	uint32_t capacity;
	uint32_t working; /* the paper's N */
	uint32_t removed; /* entries of r */
	struct anchor_bucket *bucket;
	uint32_t *w, *l, *r;
};

static void anchor_destroy(void *state)
{
	struct anchor *anchor = state;

	if (!anchor)
		return;
	free(anchor->bucket);
	free(anchor->w);
	free(anchor->l);
	free(anchor->r);
	free(anchor);
}

static struct anchor *anchor_new(uint32_t capacity)
{
	struct anchor *anchor = calloc(1, sizeof(*anchor));

	if (!anchor)
		return NULL;
	anchor->capacity = capacity;
	anchor->bucket = malloc(capacity * sizeof(*anchor->bucket));
	anchor->w = malloc(capacity * sizeof(*anchor->w));
	anchor->l = malloc(capacity * sizeof(*anchor->l));
	anchor->r = malloc(capacity * sizeof(*anchor->r));
	if (anchor->bucket && anchor->w && anchor->l && anchor->r)
		return anchor;
	anchor_destroy(anchor);
	return NULL;
}

/* Everybody at work. */
static void anchor_fill(struct anchor *anchor)
{
	for (uint32_t b = 0; b < anchor->capacity; b++) {
		anchor->bucket[b] = (struct anchor_bucket){0, b};
		anchor->w[b] = b;
		anchor->l[b] = b;
	}
	anchor->working = anchor->capacity;
	anchor->removed = 0;
}

static void anchor_remove(struct anchor *anchor, uint32_t b)
{
	uint32_t last = --anchor->working;

	anchor->r[anchor->removed++] = b;
	anchor->bucket[b].a = last;
	anchor->w[anchor->l[b]] = anchor->w[last];
	anchor->l[anchor->w[last]] = anchor->l[b];
	anchor->bucket[b].k = anchor->w[last];
}

/* Nobody at work yet: as if all had left from the last to the first, so 0 is the first to come. */
static void *anchor_create(const struct gw_chash_options *options)
{
	struct anchor *anchor = anchor_new(options->capacity);

	if (!anchor)
		return NULL;
	anchor_fill(anchor);
	for (uint32_t b = anchor->capacity; b > 0; b--)
		anchor_remove(anchor, b - 1);
	return anchor;
}

static void *anchor_clone(const void *state)
{
	const struct anchor *from = state;
	struct anchor *anchor = anchor_new(from->capacity);
	size_t size = from->capacity * sizeof(uint32_t);

	if (!anchor)
		return NULL;
	anchor->working = from->working;
	anchor->removed = from->removed;
	memcpy(anchor->bucket, from->bucket, 2 * size);
	memcpy(anchor->w, from->w, size);
	memcpy(anchor->l, from->l, size);
	memcpy(anchor->r, from->r, from->removed * sizeof(uint32_t));
	return anchor;
}

static int anchor_grow(void *state, uint32_t *bucket)
{
	struct anchor *anchor = state;
	uint32_t b;

	if (!anchor->removed)
		return GW_CHASH_ERR_CAPACITY;
	b = anchor->r[--anchor->removed];
	anchor->bucket[b].a = 0;
	anchor->l[anchor->w[anchor->working]] = anchor->working;
	anchor->w[anchor->l[b]] = b;
	anchor->bucket[b].k = b;
	anchor->working++;
	*bucket = b;
	return 0;
}

static int anchor_shrink(void *state, uint32_t bucket)
{
	anchor_remove(state, bucket);
	return 0;
}

static uint32_t anchor_span(const void *state)
{
	return ((const struct anchor *)state)->capacity;
}

static uint32_t anchor_history(const void *state, uint32_t *removed)
{
	const struct anchor *anchor = state;

	if (removed)
		memcpy(removed, anchor->r, anchor->removed * sizeof(*removed));
	return anchor->removed;
}

static int anchor_restore(
	void *state, uint32_t span, const uint8_t *held, const uint32_t *removed, uint32_t count)
{
	struct anchor *anchor = state;
	uint32_t in_use = 0;
	uint8_t *left;

	if (span != anchor->capacity || count > span)
		return GW_CHASH_ERR_CONTENT;
	for (uint32_t b = 0; b < span; b++)
		in_use += held[b];
	if (in_use + count != span)
		return GW_CHASH_ERR_CONTENT;
	left = calloc(span, 1);
	if (!left)
		return GW_CHASH_ERR_MEMORY;
	anchor_fill(anchor);
	for (uint32_t i = 0; i < count; i++) {
		if (removed[i] >= span || held[removed[i]] || left[removed[i]]) {
			free(left);
			return GW_CHASH_ERR_CONTENT;
		}
		left[removed[i]] = 1;
		anchor_remove(anchor, removed[i]);
	}
	free(left);
	return 0;
}

/* ---- lookups ----------------------------------------------------------------------------- */

static inline uint32_t anchor_bucket(const struct anchor *anchor, uint64_t key)
{
	const struct anchor_bucket *bucket = anchor->bucket;
	uint32_t b = hash_reduce(hash_mix(key), anchor->capacity);

	while (bucket[b].a) {
		uint32_t among = bucket[b].a;
		uint32_t h = hash_reduce(hash_pair(key, b), among);

		while (bucket[h].a >= among)
			h = bucket[h].k;
		b = h;
	}
	return b;
}

static uint32_t anchor_number(const struct gw_chash_view *view, uint64_t key)
{
	return anchor_bucket(view->state, key);
}

static uint32_t anchor_find(const struct gw_chash_view *view, uint64_t first, uint64_t second)
{
	return buckets_owner(view, anchor_bucket(view->state, first));
}

/* Two passes over a few keys: fetch where each begins, then follow it. */
static void anchor_find_many(
	const struct gw_chash_view *view, const uint64_t *keys, size_t count, uint32_t *members)
{
	enum { BATCH = 16 };
	const struct anchor *anchor = view->state;

	for (size_t from = 0; from < count; from += BATCH) {
		size_t to = from + BATCH < count ? from + BATCH : count;

		for (size_t i = from; i < to; i++)
			__builtin_prefetch(
				&anchor->bucket[hash_reduce(hash_mix(keys[i]), anchor->capacity)]);
		for (size_t i = from; i < to; i++) {
			members[i] = anchor_bucket(anchor, keys[i]);
			__builtin_prefetch(&view->buckets.owner[members[i]]);
		}
		for (size_t i = from; i < to; i++)
			members[i] = view->buckets.owner[members[i]];
	}
}

static size_t anchor_memory(const struct gw_chash_view *view)
{
	const struct anchor *anchor = view->state;

	return sizeof(*anchor) + anchor->capacity * (sizeof(struct anchor_bucket) + 12ull);
}

int gw_chash_view_anchor(const struct gw_chash_view *view, uint32_t *a, uint32_t *k, uint32_t *w,
	uint32_t *l, uint32_t *working)
{
	const struct anchor *anchor = view->state;

	if (view->ops != &chash_anchor)
		return GW_CHASH_ERR_UNSUPPORTED;
	for (uint32_t b = 0; b < anchor->capacity; b++) {
		if (a)
			a[b] = anchor->bucket[b].a;
		if (k)
			k[b] = anchor->bucket[b].k;
		if (w)
			w[b] = anchor->w[b];
		if (l)
			l[b] = anchor->l[b];
	}
	if (working)
		*working = anchor->working;
	return 0;
}

static const struct bucket_ops anchor_buckets = {
	.create = anchor_create,
	.clone = anchor_clone,
	.destroy = anchor_destroy,
	.grow = anchor_grow,
	.shrink = anchor_shrink,
	.span = anchor_span,
	.history = anchor_history,
	.restore = anchor_restore,
	.sorts_new = true,
};

const struct chash_ops chash_anchor = {
	.traits = {.name = "anchor",
		.title = "AnchorHash",
		.buckets = true,
		.integer_keys = true,
		.ordered = true,
		.minimal = true,
		.needs_capacity = true,
		.exact_weights = true},
	.alias = "anchorhash",
	.hash = GW_CHASH_XXH3,
	.buckets = &anchor_buckets,
	.check = buckets_capacity_check,
	.build = buckets_build,
	.free = buckets_free,
	.find = anchor_find,
	.bucket = anchor_number,
	.find_many = anchor_find_many,
	.walk = buckets_walk,
	.memory = anchor_memory,
	.dump = buckets_dump,
};
