/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Many members looking for free slots of a Maglev table at once. maglev_search.c is compiled once
 * for plain C and once for AVX-512; both find the same slots. Internal.
 */
#pragma once

#include "chash/maglev_fill.h"

/* Those who still look, in three columns; room for all members, and for 16 more to write over. */
struct maglev_search {
	uint32_t *at, *skip, *member;
};

/*
 * Moves turns[who[i]].at, for i < count, on to the first slot of its permutation that is free in
 * the bits of `taken` (slot s is bit s % 32 of word s / 32).
 */
void maglev_search_base(const struct maglev_search *search, const uint32_t *taken, uint32_t size,
	struct maglev_turn *turns, const uint32_t *who, uint32_t count);
void maglev_search_avx512(const struct maglev_search *search, const uint32_t *taken, uint32_t size,
	struct maglev_turn *turns, const uint32_t *who, uint32_t count);
