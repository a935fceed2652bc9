/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ketama, point for point as libketama has it, so that clients of either find a key at the same
 * server. Points are 32 bits: a server of weight w has floor(w / sum * 40 * n) digests, MD5 of
 * "id-0", "id-1", ..., and each digest gives four points, its bytes taken four at a time, least
 * significant first. The share w / sum is a float there and so it is here. A key belongs to the
 * first point at or above its own, the first four bytes of its digest.
 *
 * With weights far apart a light server may come out with no point at all; so it does there.
 * Changing one weight changes the number of points of others, so movement is not minimal.
 */
#include "chash/hash.h"
#include "chash/points.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LABEL_MAX (GW_CHASH_ID_MAX + 24)

static uint32_t point_take(const uint8_t digest[16], int which)
{
	const uint8_t *byte = digest + which * 4;

	return (uint32_t)byte[3] << 24 | (uint32_t)byte[2] << 16 | (uint32_t)byte[1] << 8 | byte[0];
}

static uint32_t digests_of(const struct gw_chash_view *view, const struct gw_chash_member *member)
{
	float share = (float)member->weight / (float)view->weights;

	return (uint32_t)floorf((float)(share * 40.0 * (float)view->live));
}

static int member_add(struct points *points, const struct gw_chash_view *view, uint32_t member)
{
	uint32_t digests = digests_of(view, &view->members[member]);

	for (uint32_t i = 0; i < digests; i++) {
		char label[LABEL_MAX];
		uint8_t digest[16];
		int length = snprintf(label, sizeof(label), "%s-%u", view->members[member].id, i);

		if (hash_md5_digest(label, (size_t)length, digest) < 0)
			return GW_CHASH_ERR_UNSUPPORTED;
		for (int which = 0; which < 4; which++)
			points_add(points, point_take(digest, which), member);
	}
	return 0;
}

static int ketama_build(struct gw_chash_view *view, struct chash_past *past)
{
	struct points *points = calloc(1, sizeof(*points));
	size_t room = 0;
	int status;

	if (!points)
		return GW_CHASH_ERR_MEMORY;
	view->state = points;
	for (uint32_t i = 0; i < view->count; i++)
		if (view->members[i].weight)
			room += 4ull * digests_of(view, &view->members[i]);
	status = points_init(points, room);
	for (uint32_t i = 0; i < view->count && !status; i++)
		if (view->members[i].weight)
			status = member_add(points, view, i);
	return status ? status : points_sort(points, 32);
}

static void ketama_hash(const struct gw_chash_view *view, const void *key, size_t length,
	uint64_t *first, uint64_t *second)
{
	uint8_t digest[16] = {0};

	hash_md5_digest(key, length, digest);
	*first = point_take(digest, 0);
	*second = 0;
}

static size_t point_at_or_above(const struct gw_chash_view *view, uint64_t value)
{
	uint32_t hash = (uint32_t)value;

	return hash ? points_above(view->state, hash - 1) : 0;
}

static uint32_t ketama_find(const struct gw_chash_view *view, uint64_t first, uint64_t second)
{
	const struct points *points = view->state;

	return points->point[point_at_or_above(view, first)].member;
}

/* Servers too light to have a point come last, in order of their ids. */
static int ketama_walk(const struct gw_chash_view *view, uint64_t first, uint64_t second,
	bool (*visit)(void *context, uint32_t member), void *context)
{
	const struct points *points = view->state;
	size_t at = point_at_or_above(view, first);

	for (size_t i = 0; i < points->count; i++) {
		if (!visit(context, points->point[at].member))
			return 0;
		at = at + 1 < points->count ? at + 1 : 0;
	}
	for (uint32_t i = 0; i < view->count; i++)
		if (view->members[i].weight && !visit(context, i))
			return 0;
	return 0;
}

/* The key's hash is always MD5's, whatever the options say; so they must not say otherwise. */
static int ketama_check(const struct gw_chash_options *options)
{
	return options->hash == GW_CHASH_MD5 && !options->seed ? 0 : GW_CHASH_ERR_PARAMETER;
}

const struct chash_ops chash_ketama = {
	.traits = {.name = "ketama", .title = "ketama"},
	.hash = GW_CHASH_MD5,
	.check = ketama_check,
	.build = ketama_build,
	.free = points_view_free,
	.hash_key = ketama_hash,
	.find = ketama_find,
	.walk = ketama_walk,
	.memory = points_view_memory,
	.dump = points_view_dump,
	.has_points = true,
};
