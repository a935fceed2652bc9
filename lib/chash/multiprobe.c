/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Multi-probe consistent hashing (Appleton and O'Reilly, arXiv 1505.00062): one point for each
 * unit of weight, and k probes for each key; the probe with the shortest way up to a point decides.
 * Two hashes of the key make all probes, h1 + i * h2. As in the reference implementation, points
 * are hashed with the seed, and h1 and h2 with the seed plus 1 and 2; the first of equal ways wins.
 * Points of a member beyond its first are hashes of "id#1", "id#2", ...
 */
#include "chash/hash.h"
#include "chash/points.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LABEL_MAX (GW_CHASH_ID_MAX + 24)

static void member_add(struct points *points, const struct gw_chash_view *view, uint32_t member)
{
	const char *id = view->members[member].id;
	char label[LABEL_MAX];

	points_add(points, view->hash(id, strlen(id), view->options.seed), member);
	for (uint32_t i = 1; i < view->members[member].weight; i++) {
		int length = snprintf(label, sizeof(label), "%s#%u", id, i);

		points_add(points, view->hash(label, (size_t)length, view->options.seed), member);
	}
}

static int multiprobe_build(struct gw_chash_view *view, struct chash_past *past)
{
	struct points *points = calloc(1, sizeof(*points));
	int status;

	if (!points)
		return GW_CHASH_ERR_MEMORY;
	view->state = points;
	status = points_init(points, view->weights);
	for (uint32_t i = 0; i < view->count && !status; i++)
		if (view->members[i].weight)
			member_add(points, view, i);
	return status ? status : points_sort(points, 64);
}

static void multiprobe_hash(const struct gw_chash_view *view, const void *key, size_t length,
	uint64_t *first, uint64_t *second)
{
	*first = view->hash(key, length, view->options.seed + 1);
	*second = view->hash(key, length, view->options.seed + 2);
}

static size_t point_nearest(const struct gw_chash_view *view, uint64_t first, uint64_t second)
{
	const struct points *points = view->state;
	uint64_t nearest = UINT64_MAX;
	size_t best = 0;

	if (!second)
		second = hash_mix(first ^ 0x9e3779b97f4a7c15ull);
	for (uint32_t i = 0; i < view->options.probes; i++) {
		uint64_t probe = first + i * second;
		size_t at = points_above(points, probe);
		uint64_t way = points->point[at].hash - probe;

		if (way < nearest) {
			nearest = way;
			best = at;
		}
	}
	return best;
}

static uint32_t multiprobe_find(const struct gw_chash_view *view, uint64_t first, uint64_t second)
{
	const struct points *points = view->state;

	return points->point[point_nearest(view, first, second)].member;
}

static int multiprobe_walk(const struct gw_chash_view *view, uint64_t first, uint64_t second,
	bool (*visit)(void *context, uint32_t member), void *context)
{
	points_walk(view->state, point_nearest(view, first, second), visit, context);
	return 0;
}

static int multiprobe_check(const struct gw_chash_options *options)
{
	return options->probes && options->probes <= 65536 ? 0 : GW_CHASH_ERR_PARAMETER;
}

const struct chash_ops chash_multiprobe = {
	.traits = {.name = "multi-probe", .title = "multi-probe", .minimal = true},
	.alias = "multiprobe",
	.hash = GW_CHASH_SIPHASH,
	.check = multiprobe_check,
	.build = multiprobe_build,
	.free = points_view_free,
	.hash_key = multiprobe_hash,
	.find = multiprobe_find,
	.walk = multiprobe_walk,
	.memory = points_view_memory,
	.dump = points_view_dump,
	.has_points = true,
};
