/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Everybody takes one step; those that met a taken slot are written down again and take one more,
 * until nobody is left. No branch depends on what a bit says, so none is guessed wrong, and the
 * steps of different members do not wait for each other. Compiled with KERNEL naming the function.
 */
#include "chash/maglev_search.h"

#if defined(__AVX512F__)

#	include <immintrin.h>

_Static_assert(sizeof(struct maglev_turn) == 16, "turns are gathered in steps of 16 bytes");

/* Which of 16 slots are taken. */
static inline __mmask16 slots_taken(const uint32_t *taken, __m512i at, __mmask16 valid)
{
	__m512i words = _mm512_mask_i32gather_epi32(
		_mm512_setzero_si512(), valid, _mm512_srli_epi32(at, 5), taken, 4);
	__m512i bits = _mm512_sllv_epi32(
		_mm512_set1_epi32(1), _mm512_and_si512(at, _mm512_set1_epi32(31)));

	return _mm512_mask_test_epi32_mask(valid, words, bits);
}

/* Sixteen searchers: those who are done put down where, the others are written behind `busy`. */
static inline uint32_t searchers_sort(const struct maglev_search *search, const uint32_t *taken,
	struct maglev_turn *turns, __m512i at, __m512i skip, __m512i member, __mmask16 valid,
	uint32_t busy)
{
	__mmask16 met = slots_taken(taken, at, valid);

	_mm512_mask_i32scatter_epi32(turns, valid & ~met, _mm512_slli_epi32(member, 2), at, 4);
	_mm512_storeu_si512(search->at + busy, _mm512_maskz_compress_epi32(met, at));
	_mm512_storeu_si512(search->skip + busy, _mm512_maskz_compress_epi32(met, skip));
	_mm512_storeu_si512(search->member + busy, _mm512_maskz_compress_epi32(met, member));
	return busy + (uint32_t)__builtin_popcount(met);
}

static inline __mmask16 lanes_valid(uint32_t left)
{
	return left < 16 ? (__mmask16)((1u << left) - 1) : (__mmask16)0xffff;
}

/* The last sixteen stay in registers until all of them are done. */
static inline void last_search(const struct maglev_search *search, const uint32_t *taken,
	__m512i whole, struct maglev_turn *turns, uint32_t busy)
{
	__m512i at = _mm512_loadu_si512(search->at), skip = _mm512_loadu_si512(search->skip);
	__m512i place = _mm512_slli_epi32(_mm512_loadu_si512(search->member), 2);
	__mmask16 valid = lanes_valid(busy), met = valid;

	while (met) {
		__m512i next = _mm512_add_epi32(at, skip);

		next = _mm512_min_epu32(next, _mm512_sub_epi32(next, whole));
		at = _mm512_mask_mov_epi32(at, met, next);
		met = slots_taken(taken, at, met);
	}
	_mm512_mask_i32scatter_epi32(turns, valid, place, at, 4);
}

void KERNEL(const struct maglev_search *search, const uint32_t *taken, uint32_t size,
	struct maglev_turn *turns, const uint32_t *who, uint32_t count)
{
	const __m512i whole = _mm512_set1_epi32((int)size);
	uint32_t busy = 0;

	for (uint32_t i = 0; i < count; i += 16) {
		__mmask16 valid = lanes_valid(count - i);
		__m512i member = _mm512_maskz_loadu_epi32(valid, who + i);
		__m512i place = _mm512_slli_epi32(member, 2);
		__m512i at = _mm512_mask_i32gather_epi32(member, valid, place, &turns->at, 4);
		__m512i skip = _mm512_mask_i32gather_epi32(member, valid, place, &turns->skip, 4);

		busy = searchers_sort(search, taken, turns, at, skip, member, valid, busy);
	}
	while (busy > 16) {
		count = busy;
		busy = 0;
		for (uint32_t i = 0; i < count; i += 16) {
			__mmask16 valid = lanes_valid(count - i);
			__m512i member = _mm512_loadu_si512(search->member + i);
			__m512i skip = _mm512_loadu_si512(search->skip + i);
			__m512i at = _mm512_add_epi32(_mm512_loadu_si512(search->at + i), skip);

			/* at - size wraps to a large number where at is below it. */
			at = _mm512_min_epu32(at, _mm512_sub_epi32(at, whole));
			busy = searchers_sort(search, taken, turns, at, skip, member, valid, busy);
		}
	}
	if (busy)
		last_search(search, taken, whole, turns, busy);
}

#else

static inline uint32_t slot_taken(const uint32_t *taken, uint32_t slot)
{
	return taken[slot / 32] >> (slot % 32) & 1;
}

void KERNEL(const struct maglev_search *search, const uint32_t *taken, uint32_t size,
	struct maglev_turn *turns, const uint32_t *who, uint32_t count)
{
	uint32_t busy = 0;

	for (uint32_t i = 0; i < count; i++) {
		uint32_t at = turns[who[i]].at;

		search->at[busy] = at;
		search->skip[busy] = turns[who[i]].skip;
		search->member[busy] = who[i];
		busy += slot_taken(taken, at);
	}
	while (busy) {
		count = busy;
		busy = 0;
		for (uint32_t i = 0; i < count; i++) {
			uint32_t skip = search->skip[i], member = search->member[i];
			uint32_t at = search->at[i] + skip;

			at -= at >= size ? size : 0;
			turns[member].at = at;
			search->at[busy] = at;
			search->skip[busy] = skip;
			search->member[busy] = member;
			busy += slot_taken(taken, at);
		}
	}
}

#endif
