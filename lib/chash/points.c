/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Points are hashes, spread evenly, so where a hash lies is known before looking: the upper bits of
 * a hash choose an entry of an index with about one point an entry, and the search is over in
 * a step or two. That is two cache lines a lookup where a binary search over 750,000 points meets
 * twenty branches nobody can foresee. Where many points share an entry all the same (ids chosen to
 * collide, or bad luck) the search inside the entry is a binary one.
 *
 * The same index sorts: points are dealt to their entries, and each entry is sorted by itself.
 */
#include "chash/points.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#define CROWDED 16 /* points of an entry from which on a search halves instead of stepping */

int points_init(struct points *points, size_t room)
{
	memset(points, 0, sizeof(*points));
	if (room > GW_CHASH_BUCKETS_MAX)
		return GW_CHASH_ERR_BUCKETS;
	points->point = malloc((room ? room : 1) * sizeof(*points->point));
	return points->point ? 0 : GW_CHASH_ERR_MEMORY;
}

void points_free(struct points *points)
{
	free(points->point);
	free(points->index);
}

static inline bool point_before(const struct gw_chash_point *a, const struct gw_chash_point *b)
{
	return a->hash != b->hash ? a->hash < b->hash : a->member < b->member;
}

static int point_compare(const void *left, const void *right)
{
	if (point_before(left, right))
		return -1;
	return point_before(right, left);
}

static void entry_sort(struct gw_chash_point *point, size_t count)
{
	if (count > CROWDED) {
		qsort(point, count, sizeof(*point), point_compare);
		return;
	}
	for (size_t i = 1; i < count; i++) {
		struct gw_chash_point moved = point[i];
		size_t at = i;

		for (; at && point_before(&moved, &point[at - 1]); at--)
			point[at] = point[at - 1];
		point[at] = moved;
	}
}

int points_sort(struct points *points, unsigned int bits)
{
	struct gw_chash_point *sorted;
	unsigned int levels = 1;
	size_t entries;

	while (1ull << levels < points->count)
		levels++;
	entries = (size_t)1 << levels;
	points->entries = entries + 2;
	points->shift = bits - levels;
	points->index = calloc(entries + 2, sizeof(*points->index));
	sorted = malloc((points->count ? points->count : 1) * sizeof(*sorted));
	if (!points->index || !sorted) {
		free(sorted);
		return GW_CHASH_ERR_MEMORY;
	}
	/* Counted two entries ahead, so that dealing leaves each entry's beginning in its place. */
	for (size_t i = 0; i < points->count; i++)
		points->index[(points->point[i].hash >> points->shift) + 2]++;
	for (size_t i = 2; i < entries + 2; i++)
		points->index[i] += points->index[i - 1];
	for (size_t i = 0; i < points->count; i++)
		sorted[points->index[(points->point[i].hash >> points->shift) + 1]++] =
			points->point[i];
	for (size_t i = 0; i < entries; i++)
		entry_sort(sorted + points->index[i], points->index[i + 1] - points->index[i]);
	free(points->point);
	points->point = sorted;
	return 0;
}

static inline size_t entry_above(const struct points *points, uint64_t hash)
{
	size_t entry = hash >> points->shift;
	size_t at = points->index[entry], end = points->index[entry + 1];

	if (__builtin_expect(end - at > CROWDED, 0)) {
		while (at < end) {
			size_t middle = at + (end - at) / 2;

			if (points->point[middle].hash > hash)
				end = middle;
			else
				at = middle + 1;
		}
	} else {
		while (at < end && points->point[at].hash <= hash)
			at++;
	}
	return at == points->count ? 0 : at;
}

size_t points_above(const struct points *points, uint64_t hash)
{
	return entry_above(points, hash);
}

void points_above_many(
	const struct points *points, const uint64_t *hashes, size_t count, uint32_t *members)
{
	enum { BATCH = 32 };

	for (size_t from = 0; from < count; from += BATCH) {
		size_t to = from + BATCH < count ? from + BATCH : count;

		for (size_t i = from; i < to; i++)
			__builtin_prefetch(&points->index[hashes[i] >> points->shift]);
		for (size_t i = from; i < to; i++)
			__builtin_prefetch(
				&points->point[points->index[hashes[i] >> points->shift]]);
		for (size_t i = from; i < to; i++)
			members[i] = points->point[entry_above(points, hashes[i])].member;
	}
}

void points_walk(const struct points *points, size_t at,
	bool (*visit)(void *context, uint32_t member), void *context)
{
	for (size_t i = 0; i < points->count; i++) {
		if (!visit(context, points->point[at].member))
			return;
		at = at + 1 < points->count ? at + 1 : 0;
	}
}

/* ---- as the state of a view -------------------------------------------------------------- */

void points_view_free(struct gw_chash_view *view)
{
	if (view->state)
		points_free(view->state);
	free(view->state);
}

size_t points_view_memory(const struct gw_chash_view *view)
{
	const struct points *points = view->state;

	return sizeof(*points) + points->count * sizeof(*points->point) +
	       points->entries * sizeof(*points->index);
}

void points_view_dump(const struct gw_chash_view *view, struct chash_sink *sink)
{
	const struct points *points = view->state;

	for (size_t i = 0; i < points->count; i++) {
		uint64_t hash = htole64(points->point[i].hash);
		uint32_t member = htole32(points->point[i].member);

		sink->put(sink, &hash, sizeof(hash));
		sink->put(sink, &member, sizeof(member));
	}
}

int gw_chash_view_points(const struct gw_chash_view *view, struct gw_chash_points *points)
{
	const struct points *state = view->state;

	if (!view->ops->has_points)
		return GW_CHASH_ERR_UNSUPPORTED;
	*points = (struct gw_chash_points){state->point, state->count};
	return 0;
}
