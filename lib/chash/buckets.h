/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What algorithms with numbered buckets share: who holds which bucket, and how changes of members
 * become changes of buckets. A member of weight w holds w of them, and gives the newest back first.
 * Internal.
 */
#pragma once

#include "chash/view.h"

/* What such an algorithm adds. State is its own; the functions here never see members. */
struct bucket_ops {
	/* A state without buckets. NULL when there is no memory. */
	void *(*create)(const struct gw_chash_options *options);
	void *(*clone)(const void *state);
	void (*destroy)(void *state); /* takes NULL */
	/* Takes one bucket more into use, and tells which. 0 or an error. */
	int (*grow)(void *state, uint32_t *bucket);
	/* Takes a bucket out of use. 0 or an error. */
	int (*shrink)(void *state, uint32_t bucket);
	/* How many bucket numbers there are, those out of use included. */
	uint32_t (*span)(const void *state);
	/*
	 * The buckets out of use in the order they left, as far as the mapping depends on it:
	 * returns their number, writes them if `removed` is not NULL. NULL: it does not depend.
	 */
	uint32_t (*history)(const void *state, uint32_t *removed);
	/*
	 * Turns a created state into one of `span` numbers from which `removed` left in this order
	 * and the buckets marked in `held` are in use. 0, ERR_CONTENT or ERR_MEMORY.
	 */
	int (*restore)(void *state, uint32_t span, const uint8_t *held, const uint32_t *removed,
		uint32_t count);
	bool sorts_new; /* members added in one update get buckets in order of their ids */
	bool end_only;	/* only the highest bucket can be given back */
};

/* chash_ops.check of those with a fixed capacity. */
int buckets_capacity_check(const struct gw_chash_options *options);

/* chash_ops.build and .free of all of them. */
int buckets_build(struct gw_chash_view *view, struct chash_past *past);
void buckets_free(struct gw_chash_view *view);

/*
 * chash_ops.walk of all of them: the owner, then the owners of further hashes of the key, and in
 * the end, when chance leaves somebody out, everybody in order.
 */
int buckets_walk(const struct gw_chash_view *view, uint64_t first, uint64_t second,
	bool (*visit)(void *context, uint32_t member), void *context);

/* chash_ops.dump of all of them: each bucket's owner, and the history. */
void buckets_dump(const struct gw_chash_view *view, struct chash_sink *sink);

/*
 * From a serialised view: `lists` has the buckets of each member of weight, in the order it got
 * them. 0, ERR_CONTENT or ERR_MEMORY.
 */
int buckets_restore(struct gw_chash_view *view, uint32_t span, const uint32_t *lists,
	const uint32_t *removed, uint32_t removed_count);

/* The buckets of a member, in the order it got them, into list[weight]. */
void buckets_list(const struct gw_chash_view *view, uint32_t member, uint32_t *list);

static inline uint32_t buckets_owner(const struct gw_chash_view *view, uint32_t bucket)
{
	return view->buckets.owner[bucket];
}
