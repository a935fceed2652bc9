/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The inside of a view, and the table of operations behind which each algorithm stands. Internal.
 *
 * Most algorithms derive all they need from the members (build). Those that number buckets
 * (traits.buckets) also need to know what came before; buckets.h has what they share.
 */
#pragma once

#include "chash/chash.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct chash_ops;
struct bucket_ops;

/* Who holds which bucket; empty where buckets are not numbered. See buckets.h. */
struct buckets {
	uint32_t span;	  /* bucket numbers are 0 ... span-1, some unheld */
	uint32_t room;	  /* what the arrays have space for */
	uint32_t *owner;  /* [span] member, or GW_CHASH_NONE */
	uint32_t *older;  /* [span] the bucket its member got before this one, or GW_CHASH_NONE */
	uint32_t *newest; /* [members] the bucket a member got last, or GW_CHASH_NONE */
};

/* Immutable once published, but for the count of references. */
struct gw_chash_view {
	_Atomic int64_t references; /* see handle.c */
	const struct chash_ops *ops;
	uint64_t (*hash)(const void *key, size_t length, uint64_t seed); /* options.hash */
	void *state;							 /* the algorithm's own */
	struct buckets buckets;
	uint32_t count; /* members */
	uint32_t live;	/* members with weight */
	uint64_t weights;
	uint64_t version;
	struct gw_chash_options options;
	struct gw_chash_member *members; /* sorted by id */
	char *strings;
	size_t strings_size;
	uint32_t *zone_of; /* a number for each member's zone; NULL when all have the same */
	uint32_t zones;	   /* distinct zones of members with weight */
};

/* One change, as the bucket algorithms see it. */
struct chash_step {
	uint32_t draft; /* which member, by position in the drafts: old members first, then new */
	uint32_t before, after; /* weights; leaving is after = 0 */
	size_t change;		/* position in the caller's list */
};

/* How a view came about. */
struct chash_past {
	const struct gw_chash_view *view; /* the one before */
	struct chash_step *steps;
	size_t count;
	const uint32_t *place; /* draft -> member of the new view, GW_CHASH_NONE when gone */
	uint32_t drafts;
	bool given_order; /* new members are not to be sorted before they get buckets */
	size_t failed;	  /* out: position in the caller's list of a step that cannot be done */
};

/* A place where bytes go, for digests and serialising. */
struct chash_sink {
	void (*put)(struct chash_sink *sink, const void *bytes, size_t size);
};

/*
 * find, find_many, bucket and walk are only called on a view with at least one member of weight.
 * `second` is a second hash of the key, or 0 when only a 64-bit value was given.
 */
struct chash_ops {
	struct gw_chash_traits traits;
	const char *alias;
	enum gw_chash_hash hash; /* the default */
	const struct bucket_ops *buckets;
	bool has_points; /* state is a struct points */

	/* 0 or an error of options. NULL: all are well. */
	int (*check)(const struct gw_chash_options *options);
	/* Sets state (and buckets) of a view whose other fields are set. */
	int (*build)(struct gw_chash_view *view, struct chash_past *past);
	void (*free)(struct gw_chash_view *view);
	/* NULL: view->hash makes `first`, nothing makes `second`. */
	void (*hash_key)(const struct gw_chash_view *view, const void *key, size_t length,
		uint64_t *first, uint64_t *second);
	uint32_t (*find)(const struct gw_chash_view *view, uint64_t first, uint64_t second);
	uint32_t (*bucket)(const struct gw_chash_view *view, uint64_t first);
	/* NULL: find, one by one. */
	void (*find_many)(const struct gw_chash_view *view, const uint64_t *keys, size_t count,
		uint32_t *members);
	/*
	 * Members in preference order, repeats allowed, until visit says false; each that has
	 * weight comes at least once. 0 or GW_CHASH_ERR_MEMORY.
	 */
	int (*walk)(const struct gw_chash_view *view, uint64_t first, uint64_t second,
		bool (*visit)(void *context, uint32_t member), void *context);
	size_t (*memory)(const struct gw_chash_view *view); /* of state, in bytes */
	/* The derived mapping, little-endian. NULL where members alone determine it. */
	void (*dump)(const struct gw_chash_view *view, struct chash_sink *sink);
};

extern const struct chash_ops chash_modulo, chash_ring, chash_ketama, chash_rendezvous, chash_jump,
	chash_maglev, chash_anchor, chash_dx, chash_memento, chash_multiprobe, chash_jumpback,
	chash_flip;

/* NULL for a number that names none. */
const struct chash_ops *chash_ops_of(enum gw_chash_algorithm algorithm);

/* 0 or the error of the options. */
int chash_options_check(const struct gw_chash_options *options);

/*
 * A view with options and ops set and space for members and strings, one reference, no state.
 * NULL when there is no memory.
 */
struct gw_chash_view *view_new(
	const struct gw_chash_options *options, uint32_t count, size_t strings_size);
/* Frees it, whatever its references. */
void view_free(struct gw_chash_view *view);
/* After the members are set: weights, live, zones. 0 or GW_CHASH_ERR_MEMORY. */
int view_summarise(struct gw_chash_view *view);

/* ERR_EMPTY or ERR_ALL_ZERO when nobody can own a key, else 0. */
static inline int view_ready(const struct gw_chash_view *view)
{
	if (__builtin_expect(view->live != 0, 1))
		return 0;
	return view->count ? GW_CHASH_ERR_ALL_ZERO : GW_CHASH_ERR_EMPTY;
}
