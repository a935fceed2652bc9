/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A new view starts as a copy of the old one's buckets, plays the changes in their order, and
 * at the end renames members to their positions in the new view. While it plays, members go
 * by their positions in the drafts, which for members of the old view are the same as there.
 */
#include "chash/buckets.h"

#include "chash/hash.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

static int buckets_reserve(struct buckets *buckets, uint32_t span)
{
	uint32_t room = buckets->room ? buckets->room : 16;
	uint32_t *owner, *older;

	if (span > GW_CHASH_BUCKETS_MAX)
		return GW_CHASH_ERR_BUCKETS;
	while (room < span)
		room *= 2;
	if (room > buckets->room) {
		owner = realloc(buckets->owner, room * sizeof(*owner));
		if (!owner)
			return GW_CHASH_ERR_MEMORY;
		buckets->owner = owner;
		older = realloc(buckets->older, room * sizeof(*older));
		if (!older)
			return GW_CHASH_ERR_MEMORY;
		buckets->older = older;
		buckets->room = room;
	}
	for (; buckets->span < span; buckets->span++) {
		buckets->owner[buckets->span] = GW_CHASH_NONE;
		buckets->older[buckets->span] = GW_CHASH_NONE;
	}
	return 0;
}

static int buckets_copy(
	struct buckets *buckets, const struct gw_chash_view *old, uint32_t newest_room)
{
	int status = buckets_reserve(buckets, old ? old->buckets.span : 0);

	if (status < 0)
		return status;
	buckets->newest = malloc((newest_room + 1) * sizeof(*buckets->newest));
	if (!buckets->newest)
		return GW_CHASH_ERR_MEMORY;
	memset(buckets->newest, 0xff, (newest_room + 1) * sizeof(*buckets->newest));
	if (!old)
		return 0;
	if (old->buckets.span) {
		memcpy(buckets->owner, old->buckets.owner, old->buckets.span * sizeof(uint32_t));
		memcpy(buckets->older, old->buckets.older, old->buckets.span * sizeof(uint32_t));
	}
	memcpy(buckets->newest, old->buckets.newest, old->count * sizeof(uint32_t));
	return 0;
}

static int member_grow(struct gw_chash_view *view, uint32_t draft)
{
	const struct bucket_ops *ops = view->ops->buckets;
	struct buckets *buckets = &view->buckets;
	uint32_t bucket;
	int status = ops->grow(view->state, &bucket);

	if (!status)
		status = buckets_reserve(buckets, ops->span(view->state));
	if (status < 0)
		return status;
	buckets->owner[bucket] = draft;
	buckets->older[bucket] = buckets->newest[draft];
	buckets->newest[draft] = bucket;
	return 0;
}

static int member_shrink(struct gw_chash_view *view, uint32_t draft)
{
	struct buckets *buckets = &view->buckets;
	uint32_t bucket = buckets->newest[draft];
	int status = view->ops->buckets->shrink(view->state, bucket);

	if (status < 0)
		return status;
	buckets->newest[draft] = buckets->older[bucket];
	buckets->owner[bucket] = GW_CHASH_NONE;
	buckets->older[bucket] = GW_CHASH_NONE;
	buckets->span = view->ops->buckets->span(view->state);
	return 0;
}

/* Where buckets leave from the end only, a member must hold the end to change what it holds. */
static bool step_is_legal(const struct gw_chash_view *view, const struct chash_step *step)
{
	uint32_t newest = view->buckets.newest[step->draft];

	return !view->ops->buckets->end_only || !step->before || step->before == step->after ||
	       newest + 1 == view->buckets.span;
}

static int step_play(struct gw_chash_view *view, const struct chash_step *step)
{
	int status = step_is_legal(view, step) ? 0 : GW_CHASH_ERR_NOT_LAST;

	for (uint32_t w = step->before; w < step->after && !status; w++)
		status = member_grow(view, step->draft);
	for (uint32_t w = step->before; w > step->after && !status; w--)
		status = member_shrink(view, step->draft);
	return status;
}

/* Runs of steps that only add new members are sorted by what will be their positions. */
static int step_compare(const void *left, const void *right, void *context)
{
	const uint32_t *place = context;
	const struct chash_step *a = left, *b = right;
	uint32_t first = place[a->draft], second = place[b->draft];

	return first < second ? -1 : first > second;
}

static void steps_sort(struct chash_past *past)
{
	uint32_t old = past->view ? past->view->count : 0;

	for (size_t from = 0, to; from < past->count; from = to + 1) {
		for (to = from; to < past->count; to++)
			if (past->steps[to].draft < old || past->steps[to].before)
				break;
		if (to - from > 1)
			qsort_r(past->steps + from, to - from, sizeof(*past->steps), step_compare,
				(void *)(uintptr_t)past->place);
	}
}

/* Positions in the drafts become positions in the view. */
static int members_rename(struct gw_chash_view *view, const struct chash_past *past)
{
	struct buckets *buckets = &view->buckets;
	uint32_t *newest = malloc((view->count + 1) * sizeof(*newest));

	if (!newest)
		return GW_CHASH_ERR_MEMORY;
	for (uint32_t i = 0; i < past->drafts; i++)
		if (past->place[i] != GW_CHASH_NONE)
			newest[past->place[i]] = buckets->newest[i];
	free(buckets->newest);
	buckets->newest = newest;
	for (uint32_t i = 0; i < buckets->span; i++)
		if (buckets->owner[i] != GW_CHASH_NONE)
			buckets->owner[i] = past->place[buckets->owner[i]];
	return 0;
}

static void members_tell_first(struct gw_chash_view *view)
{
	for (uint32_t i = 0; i < view->count; i++) {
		uint32_t bucket = view->buckets.newest[i];

		while (bucket != GW_CHASH_NONE) {
			view->members[i].bucket = bucket;
			bucket = view->buckets.older[bucket];
		}
	}
}

/* Told before millions of buckets are dealt out in vain. */
static int weights_check(const struct gw_chash_view *view)
{
	if (view->ops->traits.needs_capacity && view->weights > view->options.capacity)
		return GW_CHASH_ERR_CAPACITY;
	return view->weights > GW_CHASH_BUCKETS_MAX ? GW_CHASH_ERR_BUCKETS : 0;
}

int buckets_build(struct gw_chash_view *view, struct chash_past *past)
{
	const struct bucket_ops *ops = view->ops->buckets;
	int status = weights_check(view);

	if (status < 0)
		return status;
	view->state = past->view ? ops->clone(past->view->state) : ops->create(&view->options);
	if (!view->state)
		return GW_CHASH_ERR_MEMORY;
	status = buckets_copy(&view->buckets, past->view, past->drafts);
	if (!status)
		status = buckets_reserve(&view->buckets, ops->span(view->state));
	if (ops->sorts_new && !past->given_order && past->count > 1)
		steps_sort(past);
	for (size_t i = 0; i < past->count && !status; i++) {
		status = step_play(view, &past->steps[i]);
		if (status < 0)
			past->failed = past->steps[i].change;
	}
	if (!status)
		status = members_rename(view, past);
	if (!status)
		members_tell_first(view);
	return status;
}

int buckets_capacity_check(const struct gw_chash_options *options)
{
	return options->capacity && options->capacity <= GW_CHASH_BUCKETS_MAX
		       ? 0
		       : GW_CHASH_ERR_PARAMETER;
}

void buckets_free(struct gw_chash_view *view)
{
	view->ops->buckets->destroy(view->state);
}

/* ---- lookups ----------------------------------------------------------------------------- */

int buckets_walk(const struct gw_chash_view *view, uint64_t first, uint64_t second,
	bool (*visit)(void *context, uint32_t member), void *context)
{
	uint64_t tries = 32 + 4ull * view->live;

	if (!visit(context, view->ops->find(view, first, second)))
		return 0;
	for (uint64_t i = 0; i < tries; i++)
		if (!visit(context, view->ops->find(view, hash_pair(first, i), 0)))
			return 0;
	for (uint32_t i = 0, at = hash_reduce(hash_mix(first), view->count); i < view->count;
		i++, at = at + 1 < view->count ? at + 1 : 0)
		if (view->members[at].weight && !visit(context, at))
			return 0;
	return 0;
}

/* ---- bytes ------------------------------------------------------------------------------- */

void buckets_list(const struct gw_chash_view *view, uint32_t member, uint32_t *list)
{
	uint32_t bucket = view->buckets.newest[member];

	for (uint32_t i = view->members[member].weight; i > 0; i--) {
		list[i - 1] = bucket;
		bucket = view->buckets.older[bucket];
	}
}

void buckets_dump(const struct gw_chash_view *view, struct chash_sink *sink)
{
	const struct bucket_ops *ops = view->ops->buckets;
	uint32_t count = ops->history ? ops->history(view->state, NULL) : 0;
	uint32_t *removed = malloc((count + 1) * sizeof(*removed));

	for (uint32_t i = 0; i < view->buckets.span; i++) {
		uint32_t owner = htole32(view->buckets.owner[i]);

		sink->put(sink, &owner, sizeof(owner));
	}
	if (removed && count) {
		ops->history(view->state, removed);
		for (uint32_t i = 0; i < count; i++) {
			uint32_t bucket = htole32(removed[i]);

			sink->put(sink, &bucket, sizeof(bucket));
		}
	}
	free(removed);
}

/* Gives each listed bucket to its member; ERR_CONTENT when two claim one, or it is out of range. */
static int lists_claim(struct gw_chash_view *view, const uint32_t *lists, uint8_t *held)
{
	struct buckets *buckets = &view->buckets;

	for (uint32_t member = 0; member < view->count; member++) {
		for (uint32_t w = 0; w < view->members[member].weight; w++) {
			uint32_t bucket = *lists++;

			if (bucket >= buckets->span || held[bucket])
				return GW_CHASH_ERR_CONTENT;
			held[bucket] = 1;
			buckets->owner[bucket] = member;
			buckets->older[bucket] = buckets->newest[member];
			buckets->newest[member] = bucket;
		}
	}
	return 0;
}

int buckets_restore(struct gw_chash_view *view, uint32_t span, const uint32_t *lists,
	const uint32_t *removed, uint32_t removed_count)
{
	const struct bucket_ops *ops = view->ops->buckets;
	uint8_t *held;
	int status;

	/* Before space is taken for numbers nobody wrote. */
	if (weights_check(view) < 0 || (ops->history && view->weights + removed_count != span))
		return GW_CHASH_ERR_CONTENT;
	held = calloc((size_t)span + 1, 1);
	status = held ? 0 : GW_CHASH_ERR_MEMORY;
	if (!status)
		status = buckets_copy(&view->buckets, NULL, view->count);
	if (!status)
		status = buckets_reserve(&view->buckets, span);
	if (!status)
		status = lists_claim(view, lists, held);
	view->state = status ? NULL : ops->create(&view->options);
	if (!status && !view->state)
		status = GW_CHASH_ERR_MEMORY;
	if (!status)
		status = ops->restore(view->state, span, held, removed, removed_count);
	if (!status && ops->span(view->state) != span)
		status = GW_CHASH_ERR_CONTENT;
	if (!status)
		members_tell_first(view);
	free(held);
	return status;
}
