/* SPDX-License-Identifier: BSD-2-Clause */
#include "textbook.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct textbook {
	uint32_t (*get)(const struct textbook *book, uint64_t key);
	uint32_t count; /* members, points or slots */
	uint64_t *hashes;
	uint32_t *members;
	double *weights;
	uint32_t probes;
};

static uint64_t mix(uint64_t z)
{
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

/* Binary search for the first point above the key; wraps. */
static uint32_t ring_get(const struct textbook *book, uint64_t key)
{
	uint32_t low = 0, high = book->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (book->hashes[middle] > key)
			high = middle;
		else
			low = middle + 1;
	}
	return book->members[low == book->count ? 0 : low];
}

/* k probes, each a binary search; the closest point wins. */
static uint32_t multiprobe_get(const struct textbook *book, uint64_t key)
{
	uint64_t best = UINT64_MAX;
	uint32_t owner = 0;

	for (uint32_t i = 0; i < book->probes; i++) {
		uint64_t probe = mix(key + i * 0x9e3779b97f4a7c15ull);
		uint32_t low = 0, high = book->count;

		while (low < high) {
			uint32_t middle = low + (high - low) / 2;

			if (book->hashes[middle] >= probe)
				high = middle;
			else
				low = middle + 1;
		}
		low = low == book->count ? 0 : low;
		if (book->hashes[low] - probe < best) {
			best = book->hashes[low] - probe;
			owner = book->members[low];
		}
	}
	return owner;
}

/* Every member scored by -weight / ln(u), the highest wins (logarithmic method). */
static uint32_t rendezvous_get(const struct textbook *book, uint64_t key)
{
	double best = -1;
	uint32_t owner = 0;

	for (uint32_t i = 0; i < book->count; i++) {
		double u = ((double)(mix(book->hashes[i] ^ key) >> 11) + 0.5) * 0x1p-53;
		double score = -book->weights[i] / log(u);

		if (score > best) {
			best = score;
			owner = i;
		}
	}
	return owner;
}

/* Lamping and Veach, arXiv 1406.2294, figure 1. */
static uint32_t jump_get(const struct textbook *book, uint64_t key)
{
	int64_t b = -1, j = 0;

	while (j < book->count) {
		b = j;
		key = key * 2862933555777941757ull + 1;
		j = (int64_t)((double)(b + 1) * ((double)(1ll << 31) / (double)((key >> 33) + 1)));
	}
	return (uint32_t)b;
}

static uint32_t maglev_get(const struct textbook *book, uint64_t key)
{
	return book->members[key % book->count];
}

static bool take_points(struct textbook *book, const struct gw_chash_view *view)
{
	struct gw_chash_points points;

	if (gw_chash_view_points(view, &points))
		return false;
	book->count = (uint32_t)points.count;
	book->hashes = malloc(points.count * sizeof(*book->hashes));
	book->members = malloc(points.count * sizeof(*book->members));
	if (!book->hashes || !book->members)
		return false;
	for (size_t i = 0; i < points.count; i++) {
		book->hashes[i] = points.point[i].hash;
		book->members[i] = points.point[i].member;
	}
	return true;
}

static bool take_slots(struct textbook *book, const struct gw_chash_view *view)
{
	struct gw_chash_slots slots;

	if (gw_chash_view_slots(view, &slots))
		return false;
	book->count = slots.size;
	book->members = malloc(slots.size * sizeof(*book->members));
	for (uint32_t i = 0; book->members && i < slots.size; i++)
		book->members[i] = slots.u16 ? slots.u16[i] : slots.u32[i];
	return book->members;
}

static bool take_members(struct textbook *book, const struct gw_chash_view *view)
{
	const struct gw_chash_member *members = gw_chash_view_members(view);

	book->count = gw_chash_view_count(view);
	book->hashes = malloc(book->count * sizeof(*book->hashes));
	book->weights = malloc(book->count * sizeof(*book->weights));
	if (!book->hashes || !book->weights)
		return false;
	for (uint32_t i = 0; i < book->count; i++) {
		gw_chash_hash_key(
			GW_CHASH_XXH3, 0, members[i].id, strlen(members[i].id), &book->hashes[i]);
		book->weights[i] = members[i].weight;
	}
	return true;
}

static bool fill(struct textbook *book, const struct gw_chash_view *view)
{
	const struct gw_chash_options *options = gw_chash_view_options(view);

	book->probes = options->probes;
	switch (options->algorithm) {
	case GW_CHASH_RING:
	case GW_CHASH_KETAMA:
		book->get = ring_get;
		return take_points(book, view);
	case GW_CHASH_MULTIPROBE:
		book->get = multiprobe_get;
		return take_points(book, view);
	case GW_CHASH_MAGLEV:
		book->get = maglev_get;
		return take_slots(book, view);
	case GW_CHASH_RENDEZVOUS:
		book->get = rendezvous_get;
		return take_members(book, view);
	case GW_CHASH_JUMP:
		book->get = jump_get;
		book->count = gw_chash_view_count(view);
		return true;
	default:
		return false;
	}
}

struct textbook *textbook_open(const struct gw_chash_view *view)
{
	struct textbook *book = calloc(1, sizeof(*book));

	if (book && !fill(book, view)) {
		textbook_close(book);
		return NULL;
	}
	return book;
}

uint32_t textbook_get(const struct textbook *book, uint64_t key)
{
	return book->get(book, key);
}

void textbook_close(struct textbook *book)
{
	if (!book)
		return;
	free(book->hashes);
	free(book->members);
	free(book->weights);
	free(book);
}
