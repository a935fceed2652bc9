/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The ring (Karger et al., "Consistent Hashing and Random Trees", STOC 1997). A member has
 * options.vnodes points for each unit of its weight, the hashes of "id#0", "id#1", ...; a key
 * belongs to the first point strictly above its own hash, and above the last comes the first.
 */
#include "chash/points.h"

#include <stdlib.h>
#include <string.h>

/* Room for an id, '#' and twenty digits. */
#define LABEL_MAX (GW_CHASH_ID_MAX + 24)

static size_t digits_write(char *to, uint64_t number)
{
	char digits[20];
	size_t count = 0;

	do {
		digits[count++] = (char)('0' + number % 10);
		number /= 10;
	} while (number);
	for (size_t i = 0; i < count; i++)
		to[i] = digits[count - 1 - i];
	return count;
}

static void member_add(struct points *points, const struct gw_chash_view *view, uint32_t member)
{
	uint64_t count = (uint64_t)view->members[member].weight * view->options.vnodes;
	size_t length = strlen(view->members[member].id);
	char label[LABEL_MAX];

	memcpy(label, view->members[member].id, length);
	label[length++] = '#';
	for (uint64_t i = 0; i < count; i++) {
		size_t whole = length + digits_write(label + length, i);

		points_add(points, view->hash(label, whole, view->options.seed), member);
	}
}

static int ring_build(struct gw_chash_view *view, struct chash_past *past)
{
	struct points *points = calloc(1, sizeof(*points));
	uint64_t room = view->weights * view->options.vnodes;
	int status;

	if (!points)
		return GW_CHASH_ERR_MEMORY;
	view->state = points;
	status = points_init(points, room);
	for (uint32_t i = 0; i < view->count && !status; i++)
		member_add(points, view, i);
	return status ? status : points_sort(points, 64);
}

static uint32_t ring_find(const struct gw_chash_view *view, uint64_t first, uint64_t second)
{
	const struct points *points = view->state;

	return points->point[points_above(points, first)].member;
}

static void ring_find_many(
	const struct gw_chash_view *view, const uint64_t *keys, size_t count, uint32_t *members)
{
	points_above_many(view->state, keys, count, members);
}

static int ring_walk(const struct gw_chash_view *view, uint64_t first, uint64_t second,
	bool (*visit)(void *context, uint32_t member), void *context)
{
	points_walk(view->state, points_above(view->state, first), visit, context);
	return 0;
}

static int ring_check(const struct gw_chash_options *options)
{
	return options->vnodes && options->vnodes <= GW_CHASH_BUCKETS_MAX ? 0
									  : GW_CHASH_ERR_PARAMETER;
}

const struct chash_ops chash_ring = {
	.traits = {.name = "ring", .title = "ring", .minimal = true},
	.alias = "karger",
	.hash = GW_CHASH_XXH3,
	.check = ring_check,
	.build = ring_build,
	.free = points_view_free,
	.find = ring_find,
	.find_many = ring_find_many,
	.walk = ring_walk,
	.memory = points_view_memory,
	.dump = points_view_dump,
	.has_points = true,
};
