/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Everybody takes one step; those that met a taken slot are written down again and take one more,
 * until nobody is left. No branch depends on what a bit says, so none is guessed wrong, and the
 * steps of different members do not wait for each other. Compiled with KERNEL naming the table.
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

static void turns_search(const struct maglev_search *search, const uint32_t *taken, uint32_t size,
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

static void slots_ahead(const uint32_t *taken, uint32_t size, struct maglev_ahead *ahead)
{
	const __m512i whole = _mm512_set1_epi32((int)size);
	__m512i at =
		_mm512_add_epi32(_mm512_loadu_si512(ahead->way), _mm512_set1_epi32((int)ahead->at));
	__mmask16 met;

	at = _mm512_min_epu32(at, _mm512_sub_epi32(at, whole));
	met = slots_taken(taken, at, 0xffff);
	_mm512_storeu_si512(ahead->found, _mm512_maskz_compress_epi32((__mmask16)~met, at));
	ahead->first = 0;
	ahead->count = MAGLEV_AHEAD - (uint32_t)__builtin_popcount(met);
	ahead->at += ahead->step;
	ahead->at -= ahead->at >= size ? size : 0;
}

/*
 * Distances of eight slots: (slot - at) * inverse modulo size, by a quotient in floating point that
 * is exact or one off; the minimum with what is one size more or less mends it, for what is below
 * zero is very large without a sign.
 */
static inline __m512i distances(__m512i slot, __m512i at, __m512i inverse, __m512i size)
{
	__m512i way = _mm512_sub_epi64(slot, at), product, quotient, rest;

	way = _mm512_min_epu64(way, _mm512_add_epi64(way, size));
	product = _mm512_mullo_epi64(way, inverse);
	quotient = _mm512_cvttpd_epi64(
		_mm512_div_pd(_mm512_cvtepi64_pd(product), _mm512_cvtepi64_pd(size)));
	rest = _mm512_sub_epi64(product, _mm512_mullo_epi64(quotient, size));
	rest = _mm512_min_epu64(rest, _mm512_add_epi64(rest, size));
	return _mm512_min_epu64(rest, _mm512_sub_epi64(rest, size));
}

static uint32_t slot_nearest(
	const uint32_t *vacant, uint32_t count, uint32_t at, uint32_t inverse, uint32_t size)
{
	const __m512i lanes = _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7);
	__m512i best = _mm512_set1_epi64(-1);

	for (uint32_t i = 0; i < count; i += 8) {
		__mmask8 valid = count - i < 8 ? (__mmask8)((1u << (count - i)) - 1) : 0xff;
		__m512i slot = _mm512_cvtepu32_epi64(_mm256_maskz_loadu_epi32(valid, vacant + i));
		__m512i key = distances(slot, _mm512_set1_epi64(at), _mm512_set1_epi64(inverse),
			_mm512_set1_epi64(size));

		/* The distance above the position: the least of these tells both. */
		key = _mm512_or_epi64(
			_mm512_slli_epi64(key, 32), _mm512_add_epi64(lanes, _mm512_set1_epi64(i)));
		best = _mm512_mask_min_epu64(best, valid, best, key);
	}
	return (uint32_t)_mm512_reduce_min_epu64(best);
}

#else

static uint32_t slot_nearest(
	const uint32_t *vacant, uint32_t count, uint32_t at, uint32_t inverse, uint32_t size)
{
	int64_t nearest = INT64_MAX;
	double reciprocal = 1.0 / size;
	uint32_t best = 0;

	for (uint32_t i = 0; i < count; i++) {
		int64_t way = vacant[i] >= at ? vacant[i] - at : vacant[i] + size - at;
		int64_t product = way * (int64_t)inverse;
		/* The quotient is exact or one off; both are mended below. */
		int64_t distance = product - (int64_t)((double)product * reciprocal) * size;

		distance += distance < 0 ? size : 0;
		distance -= distance >= size ? size : 0;
		if (distance < nearest) {
			nearest = distance;
			best = i;
		}
	}
	return best;
}

static inline uint32_t slot_taken(const uint32_t *taken, uint32_t slot)
{
	return taken[slot / 32] >> (slot % 32) & 1;
}

static void turns_search(const struct maglev_search *search, const uint32_t *taken, uint32_t size,
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

static void slots_ahead(const uint32_t *taken, uint32_t size, struct maglev_ahead *ahead)
{
	uint32_t free = 0;

	for (uint32_t i = 0; i < MAGLEV_AHEAD; i++) {
		uint32_t at = ahead->at + ahead->way[i];

		at -= at >= size ? size : 0;
		ahead->found[free] = at;
		free += !slot_taken(taken, at);
	}
	ahead->first = 0;
	ahead->count = free;
	ahead->at += ahead->step;
	ahead->at -= ahead->at >= size ? size : 0;
}

#endif

const struct maglev_search_code KERNEL = {turns_search, slot_nearest, slots_ahead};
