/* SPDX-License-Identifier: BSD-2-Clause */
/* Points on a circle, for ring, ketama and multi-probe: points.c says how they are found. Internal.
 */
#pragma once

#include "chash/view.h"

struct points {
	struct gw_chash_point *point; /* [count], ascending by hash, then by member */
	size_t count;
	uint32_t
		*index; /* the first point at or above each multiple of 2^shift, and a last entry */
	size_t entries;
	unsigned int shift;
};

/* Space for up to `room` points. 0, ERR_BUCKETS or ERR_MEMORY. */
int points_init(struct points *points, size_t room);
void points_free(struct points *points);

static inline void points_add(struct points *points, uint64_t hash, uint32_t member)
{
	points->point[points->count++] = (struct gw_chash_point){hash, member, 0};
}

/* After the last is added: sorts, for hashes below 2^bits. 0 or ERR_MEMORY. */
int points_sort(struct points *points, unsigned int bits);

/* Position of the first point above `hash`, 0 past the last: the circle closes. */
size_t points_above(const struct points *points, uint64_t hash);

/* Members of the points above each hash, many at once, fetching ahead. */
void points_above_many(
	const struct points *points, const uint64_t *hashes, size_t count, uint32_t *members);

/* Members of the points from `at` on, once around. */
void points_walk(const struct points *points, size_t at,
	bool (*visit)(void *context, uint32_t member), void *context);

/* chash_ops.free, .memory and .dump of a view whose state is a struct points from malloc. */
void points_view_free(struct gw_chash_view *view);
size_t points_view_memory(const struct gw_chash_view *view);
void points_view_dump(const struct gw_chash_view *view, struct chash_sink *sink);
