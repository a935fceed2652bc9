/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * A sweeper's walk over the words of a flow table, the same in both paths: expired words are
 * retired, live ones are shown to the caller, and retired ones are emptied when nothing is left
 * that overflowed from their bucket.
 *
 * Why not empty at once: a flow whose first bucket was full stands in its second, and is found
 * there only as long as the first has no empty word (flow_word.h). Each live word tells whether it
 * stands in its second bucket, and which was its first; the walk marks that one. A flow overflows
 * only from a bucket without any free word, so while a word stays retired nothing more overflows
 * from its bucket. A word may therefore be emptied when it was retired before a whole walk began,
 * and that walk found nothing to mark its bucket for.
 *
 * One thread walks. Whoever changes a word meanwhile has good reason: a lost compare-and-swap is
 * left to the next walk.
 */
#pragma once

#include "abi/flow_word.h"

struct gw_flow_sweep {
	uint32_t buckets;
	uint32_t began;	       /* second in which this walk began */
	uint32_t before_began; /* the walk before; meaningless until there was one */
	bool before;	       /* there was a walk before this one */
	uint64_t *marked;      /* a bit a bucket: something that overflowed from it lives */
	uint64_t *marked_before;
};

/* Words of one set of marks. */
GW_INLINE size_t gw_flow_sweep_words(uint32_t buckets)
{
	return ((size_t)buckets + 63) / 64;
}

/* Before the first walk. `marks`: two sets of gw_flow_sweep_words() zeroes, the caller's. */
GW_INLINE void gw_flow_sweep_start(
	struct gw_flow_sweep *sweep, uint32_t buckets, uint64_t *marks, uint32_t now)
{
	sweep->buckets = buckets;
	sweep->began = now;
	sweep->before = false;
	sweep->marked = marks;
	sweep->marked_before = marks + gw_flow_sweep_words(buckets);
}

GW_INLINE bool gw_flow_sweep_marked(const uint64_t *marks, uint32_t bucket)
{
	return (marks[bucket / 64] >> bucket % 64 & 1) != 0;
}

/* After the last bucket: the walk that now begins, at `now`, relies on the one that ended. */
GW_INLINE void gw_flow_sweep_next(struct gw_flow_sweep *sweep, uint32_t now)
{
	uint64_t *marks = sweep->marked_before;

	sweep->marked_before = sweep->marked;
	sweep->marked = marks;
	__builtin_memset(marks, 0, gw_flow_sweep_words(sweep->buckets) * sizeof(*marks));
	sweep->before_began = sweep->began;
	sweep->before = true;
	sweep->began = now;
}

/* May this free word become an empty one? */
GW_INLINE bool gw_flow_sweep_empties(
	const struct gw_flow_sweep *sweep, uint32_t bucket, uint64_t word, uint32_t now)
{
	return word != GW_FLOW_EMPTY && sweep->before &&
	       gw_flow_age(word, now) > now - sweep->before_began &&
	       !gw_flow_sweep_marked(sweep->marked_before, bucket);
}

/* One word of a bucket: the word when it is a live flow, else GW_FLOW_EMPTY. */
GW_INLINE uint64_t gw_flow_sweep_word(struct gw_flow_sweep *sweep, uint32_t bucket, uint64_t *word,
	uint32_t now, const struct gw_flow_timeouts *timeouts)
{
	uint64_t seen = __atomic_load_n(word, __ATOMIC_RELAXED);

	if (gw_flow_state(seen) == GW_FLOW_FREE) {
		if (gw_flow_sweep_empties(sweep, bucket, seen, now))
			gw_flow_swap(word, seen, GW_FLOW_EMPTY);
		return GW_FLOW_EMPTY;
	}
	/* Expired ones too: a packet may bring it back to life before we retire it. */
	if (gw_flow_overflowed(bucket, gw_flow_tag(seen))) {
		uint32_t first = gw_flow_other_bucket(bucket, gw_flow_tag(seen), sweep->buckets);

		sweep->marked[first / 64] |= 1ull << first % 64;
	}
	if (!gw_flow_expired(seen, now, timeouts))
		return seen;
	gw_flow_swap(word, seen, GW_FLOW_RETIRED | (now & GW_FLOW_STAMP_MASK));
	return GW_FLOW_EMPTY;
}
