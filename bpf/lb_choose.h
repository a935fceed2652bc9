/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * Which backend a packet goes to: the flow table's memory first, else the pool's table, and what
 * the flow table remembers of it (packets.md, "Choosing the backend"). The rules know no map: they
 * reach buckets, backends and tables through accessors, which inline, so that a unit test runs them
 * on plain memory.
 *
 *	tracked, backend may keep it    stays; the word is advanced (at most once a second when
 *					nothing else changes)
 *	tracked, backend may not        by the table; the same word now names the new backend
 *	not tracked, or expired         by the table; a free, expired, closing or NEW word is taken
 *	nothing to take                 by the table, not remembered
 *	the table has no member         dropped, and the flow table is left as it was
 *
 * A service that does not track flows asks the table only (gw_choose_by_table).
 *
 * Words change by compare-and-swap only. Who loses a race does not loop: another CPU has just
 * handled this flow, whose backend is taken, or has taken the word for another flow, and then
 * a second word is tried.
 */
#pragma once

#include "abi/flow_word.h"
#include "abi/objects.h"
#include "abi/verdict.h"
#include "abi/xdp_maps.h"

#define GW_CHOOSE_OK (-1)

/* What is known of the packet and the moment. */
struct gw_choose {
	struct gw_flow_place place; /* of the full 5-tuple */
	uint32_t buckets;	    /* of the flow table */
	uint64_t hash;		    /* of the key reduced by the service's affinity */
	uint32_t pool;
	uint32_t now; /* monotonic clock, seconds */
	enum gw_flow_event event;
	const struct gw_flow_timeouts *timeouts;
};

struct gw_choice {
	uint32_t backend; /* global id */
	uint32_t slot;	  /* of the table, or GW_NONE when it was not asked */
	uint32_t flow;	  /* enum gw_trace_flow */
};

/*
 * How a datapath reaches its data. `path` is its own. bucket_at returns NULL only if
 * there is no flow table. backend_at returns NULL for an id that cannot be. table_at
 * returns the backend id that the pool's table names for the hash, and the slot; GW_NONE without
 * any member.
 */
struct gw_choose_ops {
	struct gw_flow_bucket *(*bucket_at)(const void *path, uint32_t bucket);
	const struct gw_backend *(*backend_at)(const void *path, uint32_t backend);
	uint32_t (*table_at)(const void *path, uint32_t pool, uint64_t hash, uint32_t *slot);
};

GW_INLINE bool gw_choose_keeps(const struct gw_choose *in, uint64_t word,
	const struct gw_choose_ops *ops, const void *path)
{
	const struct gw_backend *backend = ops->backend_at(path, gw_flow_backend(word));

	return backend && gw_backend_keeps_flow(backend, in->pool, in->event == GW_FLOW_SYN);
}

GW_INLINE uint64_t *gw_choose_find(struct gw_flow_bucket *bucket, uint32_t tag)
{
	uint32_t index = gw_flow_find(bucket, tag);

	return index < GW_FLOW_BUCKET_WORDS
		       ? &bucket->word[GW_BOUND(index, GW_FLOW_BUCKET_WORDS - 1)]
		       : NULL;
}

/*
 * Writes the choice into a word that may be given up, of the flow's two buckets (`second` is NULL
 * while the first has empty words). Returns the enum gw_trace_flow.
 */
GW_INLINE uint32_t gw_choose_insert(const struct gw_choose *in, struct gw_flow_bucket *first,
	struct gw_flow_bucket *second, uint64_t word)
{
	for (int attempt = 0; attempt < 2; attempt++) {
		struct gw_flow_bucket *bucket = first;
		struct gw_flow_victim victim = gw_flow_find_victim(first, in->now, in->timeouts);

		if (victim.rank < GW_FLOW_RANK_EMPTY && second) {
			struct gw_flow_victim other =
				gw_flow_find_victim(second, in->now, in->timeouts);

			if (other.rank > victim.rank) {
				victim = other;
				bucket = second;
			}
		}
		if (victim.index >= GW_FLOW_BUCKET_WORDS)
			return GW_TRACE_UNTRACKED;
		if (gw_flow_swap(&bucket->word[GW_BOUND(victim.index, GW_FLOW_BUCKET_WORDS - 1)],
			    victim.word, word))
			return GW_TRACE_NEW;
	}
	return GW_TRACE_UNTRACKED;
}

/*
 * The backend of a tracked flow that may keep it, or GW_NONE. Nothing changes: for packets that are
 * about a flow and not of it.
 */
GW_INLINE uint32_t gw_choose_tracked(
	const struct gw_choose *in, const struct gw_choose_ops *ops, const void *path)
{
	uint32_t bucket = in->place.bucket;

#pragma GCC unroll 2
	for (int i = 0; i < 2; i++) {
		struct gw_flow_bucket *at = ops->bucket_at(path, bucket);
		const uint64_t *tracked = at ? gw_choose_find(at, in->place.tag) : NULL;
		uint64_t word;

		if (!at)
			break;
		if (tracked) {
			word = *(const volatile uint64_t *)tracked;
			return gw_flow_tag(word) == in->place.tag &&
					       !gw_flow_expired(word, in->now, in->timeouts) &&
					       gw_choose_keeps(in, word, ops, path)
				       ? gw_flow_backend(word)
				       : GW_NONE;
		}
		if (gw_flow_bucket_has_empty(at))
			break;
		bucket = gw_flow_other_bucket(in->place.bucket, in->place.tag, in->buckets);
	}
	return GW_NONE;
}

/* Chooses for a service that does not track flows: no bucket is as much as looked at. */
GW_INLINE int gw_choose_by_table(const struct gw_choose *in, const struct gw_choose_ops *ops,
	const void *path, struct gw_choice *out)
{
	out->flow = GW_TRACE_TABLE_ONLY;
	out->slot = GW_NONE;
	out->backend = ops->table_at(path, in->pool, in->hash, &out->slot);
	return out->backend == GW_NONE ? GW_DROP_NO_BACKEND : GW_CHOOSE_OK;
}

/*
 * Chooses and remembers. Fills *out and returns GW_CHOOSE_OK, or returns GW_DROP_NO_BACKEND with
 * nothing remembered.
 */
GW_INLINE int gw_choose(const struct gw_choose *in, const struct gw_choose_ops *ops,
	const void *path, struct gw_choice *out)
{
	struct gw_flow_bucket *first = ops->bucket_at(path, in->place.bucket), *second = NULL;
	uint64_t *tracked = NULL, old = 0, word;

	out->flow = GW_TRACE_UNTRACKED;
	out->slot = GW_NONE;
	if (first) {
		tracked = gw_choose_find(first, in->place.tag);
		if (!tracked && !gw_flow_bucket_has_empty(first)) {
			second = ops->bucket_at(path,
				gw_flow_other_bucket(in->place.bucket, in->place.tag, in->buckets));
			if (second)
				tracked = gw_choose_find(second, in->place.tag);
		}
	}
	if (tracked) {
		old = *(volatile uint64_t *)tracked;
		out->flow = GW_TRACE_NEW;
		if (gw_flow_tag(old) == in->place.tag &&
			!gw_flow_expired(old, in->now, in->timeouts)) {
			out->flow = GW_TRACE_MOVED;
			if (gw_choose_keeps(in, old, ops, path)) {
				word = gw_flow_next(old, in->event, in->now);
				if (word != old)
					gw_flow_swap(tracked, old, word);
				out->backend = gw_flow_backend(old);
				out->flow = GW_TRACE_HIT;
				return GW_CHOOSE_OK;
			}
		}
	}
	out->backend = ops->table_at(path, in->pool, in->hash, &out->slot);
	if (out->backend == GW_NONE)
		return GW_DROP_NO_BACKEND;
	word = gw_flow_word(in->place.tag, out->backend, GW_FLOW_NEW, in->now);
	if (tracked && !gw_flow_swap(tracked, old, word)) {
		old = *(volatile uint64_t *)tracked;
		out->flow = GW_TRACE_UNTRACKED;
		if (gw_flow_tag(old) == in->place.tag && gw_choose_keeps(in, old, ops, path)) {
			out->backend = gw_flow_backend(old);
			out->flow = GW_TRACE_HIT;
		}
	} else if (!tracked && first) {
		out->flow = gw_choose_insert(in, first, second, word);
	}
	return GW_CHOOSE_OK;
}
