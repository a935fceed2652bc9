/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Many members looking for free slots of a Maglev table at once, one of them far ahead, or one
 * among few slots.
 * maglev_search.c is compiled once for plain C and once for AVX-512; both find the same slots.
 * Internal.
 */
#pragma once

#include "chash/maglev_fill.h"

/* Those who still look, in three columns; room for all members, and for 16 more to write over. */
struct maglev_search {
	uint32_t *at, *skip, *member;
};

#define MAGLEV_AHEAD 16u

/* One member's next free slots, found before its turns come. */
struct maglev_ahead {
	uint32_t way[MAGLEV_AHEAD];   /* i * skip modulo size */
	uint32_t found[MAGLEV_AHEAD]; /* free when looked at, in the permutation's order */
	uint32_t step;		      /* MAGLEV_AHEAD * skip modulo size */
	uint32_t at;		      /* where to look next */
	uint32_t first, count;	      /* found[first] to found[count - 1] are still to be taken */
};

struct maglev_search_code {
	/*
	 * Moves turns[who[i]].at, for i < count, on to the first slot of its permutation that is
	 * free in the bits of `taken` (slot s is bit s % 32 of word s / 32).
	 */
	void (*search)(const struct maglev_search *search, const uint32_t *taken, uint32_t size,
		struct maglev_turn *turns, const uint32_t *who, uint32_t count);
	/*
	 * Which of vacant[count] comes first from `at` on, in steps of a skip whose inverse
	 * modulo size is given: its position. count > 0.
	 */
	uint32_t (*nearest)(const uint32_t *vacant, uint32_t count, uint32_t at, uint32_t inverse,
		uint32_t size);
	/* Looks at the next MAGLEV_AHEAD slots of the permutation; found and count anew. */
	void (*ahead)(const uint32_t *taken, uint32_t size, struct maglev_ahead *ahead);
};

extern const struct maglev_search_code maglev_search_base, maglev_search_avx512;
