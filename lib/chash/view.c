/* SPDX-License-Identifier: BSD-2-Clause */
/* Making, describing and looking into views. */
#include "chash/view.h"

#include "chash/hash.h"
#include "chash/id.h"

#include <stdlib.h>
#include <string.h>

struct gw_chash_view *view_new(
	const struct gw_chash_options *options, uint32_t count, size_t strings_size)
{
	struct gw_chash_view *view = aligned_alloc(64, (sizeof(*view) + 63) / 64 * 64);

	if (!view)
		return NULL;
	memset(view, 0, sizeof(*view));
	view->options = *options;
	view->ops = chash_ops_of(options->algorithm);
	view->hash = hash_of(options->hash);
	view->count = count;
	view->strings_size = strings_size;
	view->members = calloc(count ? count : 1, sizeof(*view->members));
	view->strings = malloc(strings_size ? strings_size : 1);
	if (view->members && view->strings)
		return view;
	view_free(view);
	return NULL;
}

void view_free(struct gw_chash_view *view)
{
	if (!view)
		return;
	if (view->ops->free)
		view->ops->free(view);
	free(view->buckets.owner);
	free(view->buckets.older);
	free(view->buckets.newest);
	free(view->zone_of);
	free(view->members);
	free(view->strings);
	free(view);
}

/* ---- zones ------------------------------------------------------------------------------- */

struct zone_ref {
	const char *zone;
	uint32_t member;
};

static int zone_compare(const void *left, const void *right)
{
	return strcmp(
		((const struct zone_ref *)left)->zone, ((const struct zone_ref *)right)->zone);
}

static bool zones_are_one(const struct gw_chash_view *view)
{
	for (uint32_t i = 1; i < view->count; i++)
		if (strcmp(view->members[i].zone, view->members[0].zone))
			return false;
	return true;
}

static int zones_number(struct gw_chash_view *view)
{
	struct zone_ref *refs;
	uint32_t number = 0;
	bool counted = false;

	view->zones = view->live != 0;
	if (zones_are_one(view))
		return 0;
	refs = malloc(view->count * sizeof(*refs));
	view->zone_of = malloc(view->count * sizeof(*view->zone_of));
	if (!refs || !view->zone_of) {
		free(refs);
		return GW_CHASH_ERR_MEMORY;
	}
	for (uint32_t i = 0; i < view->count; i++)
		refs[i] = (struct zone_ref){view->members[i].zone, i};
	qsort(refs, view->count, sizeof(*refs), zone_compare);
	view->zones = 0;
	for (uint32_t i = 0; i < view->count; i++) {
		if (i && strcmp(refs[i].zone, refs[i - 1].zone)) {
			number++;
			counted = false;
		}
		view->zone_of[refs[i].member] = number;
		if (!counted && view->members[refs[i].member].weight) {
			view->zones++;
			counted = true;
		}
	}
	free(refs);
	return 0;
}

int view_summarise(struct gw_chash_view *view)
{
	view->live = 0;
	view->weights = 0;
	for (uint32_t i = 0; i < view->count; i++) {
		view->weights += view->members[i].weight;
		view->live += view->members[i].weight != 0;
		view->members[i].bucket = GW_CHASH_NONE;
	}
	return zones_number(view);
}

/* ---- what callers see -------------------------------------------------------------------- */

uint64_t gw_chash_view_version(const struct gw_chash_view *view)
{
	return view->version;
}

const struct gw_chash_options *gw_chash_view_options(const struct gw_chash_view *view)
{
	return &view->options;
}

uint32_t gw_chash_view_count(const struct gw_chash_view *view)
{
	return view->count;
}

const struct gw_chash_member *gw_chash_view_members(const struct gw_chash_view *view)
{
	return view->members;
}

int gw_chash_view_find(const struct gw_chash_view *view, const char *id, uint32_t *member)
{
	uint32_t low = 0, high = view->count;

	if (!id)
		return GW_CHASH_ERR_ARGUMENT;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		int order = strcmp(id, view->members[middle].id);

		if (!order) {
			*member = middle;
			return 0;
		}
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return GW_CHASH_ERR_UNKNOWN;
}

size_t gw_chash_view_memory(const struct gw_chash_view *view)
{
	size_t size = sizeof(*view) + view->strings_size;

	size += view->count * sizeof(*view->members);
	size += view->zone_of ? view->count * sizeof(*view->zone_of) : 0;
	size += view->buckets.owner ? (size_t)view->buckets.room * 2 * sizeof(uint32_t) : 0;
	size += view->buckets.newest ? view->count * sizeof(*view->buckets.newest) : 0;
	return size + (view->ops->memory ? view->ops->memory(view) : 0);
}

uint32_t gw_chash_bucket_member(const struct gw_chash_view *view, uint32_t bucket)
{
	return bucket < view->buckets.span ? view->buckets.owner[bucket] : GW_CHASH_NONE;
}

uint64_t gw_chash_view_hash(const struct gw_chash_view *view, const void *key, size_t length)
{
	uint64_t first, second;

	if (!view->ops->hash_key)
		return view->hash(key, length, view->options.seed);
	view->ops->hash_key(view, key, length, &first, &second);
	return first;
}
