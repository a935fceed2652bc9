/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * All eight words of a bucket looked at together: each function answers with one bit a word. A
 * word may change meanwhile, so an answer is a hint: who acts on one reads that word again, or
 * changes it by compare-and-swap.
 */
#pragma once

#include "abi/flow_word.h"

#ifdef __SSE4_1__
#	include <smmintrin.h>

/* The lower (0) or the upper (1) halves of words 0 … 3 and 4 … 7. */
#	define GW_FLOW_HALVES(at, upper)                                                          \
		_mm_castps_si128(                                                                  \
			_mm_shuffle_ps(_mm_castsi128_ps((at)[0]), _mm_castsi128_ps((at)[1]),       \
				(upper) ? _MM_SHUFFLE(3, 1, 3, 1) : _MM_SHUFFLE(2, 0, 2, 0)))

/* Two vectors of 32-bit truths as eight bits. */
static inline uint32_t gw_flow_bits(__m128i first, __m128i second)
{
	__m128i truths = _mm_packs_epi32(first, second);

	return (uint32_t)_mm_movemask_epi8(_mm_packs_epi16(truths, _mm_setzero_si128()));
}

/* The words with this tag, free ones too. */
static inline uint32_t gw_flow_tags(const struct gw_flow_bucket *bucket, uint32_t tag)
{
	const __m128i *at = (const void *)bucket->word;
	__m128i wanted = _mm_set1_epi32((int)tag);

	return gw_flow_bits(_mm_cmpeq_epi32(GW_FLOW_HALVES(at, 1), wanted),
		_mm_cmpeq_epi32(GW_FLOW_HALVES(at + 2, 1), wanted));
}

static inline uint32_t gw_flow_empties(const struct gw_flow_bucket *bucket)
{
	const __m128i *at = (const void *)bucket->word;
	__m128i first = _mm_or_si128(GW_FLOW_HALVES(at, 0), GW_FLOW_HALVES(at, 1));
	__m128i second = _mm_or_si128(GW_FLOW_HALVES(at + 2, 0), GW_FLOW_HALVES(at + 2, 1));

	return gw_flow_bits(_mm_cmpeq_epi32(first, _mm_setzero_si128()),
		_mm_cmpeq_epi32(second, _mm_setzero_si128()));
}

/* The words of state FREE: empty or retired. */
static inline uint32_t gw_flow_frees(const struct gw_flow_bucket *bucket)
{
	const __m128i *at = (const void *)bucket->word;
	__m128i state = _mm_set1_epi32(3 << GW_FLOW_STATE_SHIFT);

	return gw_flow_bits(
		_mm_cmpeq_epi32(_mm_and_si128(GW_FLOW_HALVES(at, 0), state), _mm_setzero_si128()),
		_mm_cmpeq_epi32(
			_mm_and_si128(GW_FLOW_HALVES(at + 2, 0), state), _mm_setzero_si128()));
}

/* The timeouts by [class][state] as two tables of bytes, as PSHUFB takes them. */
struct gw_flow_limits {
	__m128i low;
	__m128i high;
};

static inline struct gw_flow_limits gw_flow_limits(const struct gw_flow_timeouts *timeouts)
{
	const __m128i *at = (const void *)timeouts->seconds;
	__m128i first = _mm_loadu_si128(at), second = _mm_loadu_si128(at + 1);
	__m128i byte = _mm_set1_epi16(0xff);

	return (struct gw_flow_limits){
		.low = _mm_packus_epi16(_mm_and_si128(first, byte), _mm_and_si128(second, byte)),
		.high = _mm_packus_epi16(_mm_srli_epi16(first, 8), _mm_srli_epi16(second, 8))};
}

/* gw_flow_rank of four words, with their places below it; an empty word counts as an expired one.
 */
static inline __m128i gw_flow_scores(__m128i low, __m128i tags, uint32_t now,
	const struct gw_flow_limits *limits, __m128i places)
{
	/* By state, in units of 4096. */
	const __m128i ranks = _mm_setr_epi8(GW_FLOW_RANK_EXPIRED >> 12, GW_FLOW_RANK_NEW >> 12, 0,
		GW_FLOW_RANK_CLOSING >> 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
	const __m128i lowest_byte = _mm_set1_epi32((int)0x80808000);
	const __m128i two_bits = _mm_set1_epi32(3);
	__m128i state = _mm_and_si128(_mm_srli_epi32(low, GW_FLOW_STATE_SHIFT), two_bits);
	__m128i age = _mm_and_si128(
		_mm_sub_epi32(_mm_set1_epi32((int)now), low), _mm_set1_epi32(GW_FLOW_STAMP_MASK));
	__m128i ahead =
		_mm_cmpgt_epi32(age, _mm_set1_epi32(GW_FLOW_STAMP_MASK - GW_FLOW_STAMP_SKEW));
	__m128i place = _mm_or_si128(
		_mm_or_si128(_mm_slli_epi32(_mm_and_si128(tags, two_bits), 2), state), lowest_byte);
	__m128i limit = _mm_or_si128(_mm_shuffle_epi8(limits->low, place),
		_mm_slli_epi32(_mm_shuffle_epi8(limits->high, place), 8));
	__m128i is_new = _mm_cmpeq_epi32(state, _mm_set1_epi32(GW_FLOW_NEW));
	__m128i rank, over;

	age = _mm_andnot_si128(ahead, age);
	over = _mm_or_si128(
		_mm_cmpgt_epi32(age, limit), _mm_cmpeq_epi32(state, _mm_setzero_si128()));
	rank = _mm_slli_epi32(_mm_shuffle_epi8(ranks, _mm_or_si128(state, lowest_byte)), 12);
	rank = _mm_or_si128(rank, _mm_and_si128(age, is_new));
	rank = _mm_blendv_epi8(rank, _mm_set1_epi32(GW_FLOW_RANK_EXPIRED), over);
	return _mm_or_si128(_mm_slli_epi32(rank, 3), places);
}

/*
 * gw_flow_find_victim without branches, which would be guessed wrong: words of all kinds stand in a
 * bucket in any order. An empty word is as good as an expired one here.
 */
static inline struct gw_flow_victim gw_flow_scan_victim(
	const struct gw_flow_bucket *bucket, uint32_t now, const struct gw_flow_timeouts *timeouts)
{
	const __m128i *at = (const void *)bucket->word;
	struct gw_flow_limits limits = gw_flow_limits(timeouts);
	__m128i best = _mm_max_epi32(gw_flow_scores(GW_FLOW_HALVES(at, 0), GW_FLOW_HALVES(at, 1),
					     now, &limits, _mm_setr_epi32(7, 6, 5, 4)),
		gw_flow_scores(GW_FLOW_HALVES(at + 2, 0), GW_FLOW_HALVES(at + 2, 1), now, &limits,
			_mm_setr_epi32(3, 2, 1, 0)));
	struct gw_flow_victim victim = {.index = GW_FLOW_BUCKET_WORDS};
	uint32_t score, index;
	uint64_t word;

	best = _mm_max_epi32(best, _mm_shuffle_epi32(best, _MM_SHUFFLE(1, 0, 3, 2)));
	best = _mm_max_epi32(best, _mm_shuffle_epi32(best, _MM_SHUFFLE(2, 3, 0, 1)));
	score = (uint32_t)_mm_cvtsi128_si32(best);
	index = GW_FLOW_BUCKET_WORDS - 1 - (score & 7);
	word = __atomic_load_n(&bucket->word[index], __ATOMIC_RELAXED);
	/* What was ranked is what the caller will expect there: it may have become better. */
	if (score >> 3 && (gw_flow_state(word) == GW_FLOW_FREE ||
				  gw_flow_rank(word, now, timeouts) == score >> 3))
		victim = (struct gw_flow_victim){.index = index, .rank = score >> 3, .word = word};
	return victim;
}

#else

static inline struct gw_flow_victim gw_flow_scan_victim(
	const struct gw_flow_bucket *bucket, uint32_t now, const struct gw_flow_timeouts *timeouts)
{
	return gw_flow_find_victim(bucket, now, timeouts);
}

static inline uint64_t gw_flow_peek(const struct gw_flow_bucket *bucket, uint32_t i)
{
	return __atomic_load_n(&bucket->word[i], __ATOMIC_RELAXED);
}

static inline uint32_t gw_flow_tags(const struct gw_flow_bucket *bucket, uint32_t tag)
{
	uint32_t bits = 0;

	for (uint32_t i = 0; i < GW_FLOW_BUCKET_WORDS; i++)
		bits |= (uint32_t)(gw_flow_tag(gw_flow_peek(bucket, i)) == tag) << i;
	return bits;
}

static inline uint32_t gw_flow_empties(const struct gw_flow_bucket *bucket)
{
	uint32_t bits = 0;

	for (uint32_t i = 0; i < GW_FLOW_BUCKET_WORDS; i++)
		bits |= (uint32_t)(gw_flow_peek(bucket, i) == GW_FLOW_EMPTY) << i;
	return bits;
}

static inline uint32_t gw_flow_frees(const struct gw_flow_bucket *bucket)
{
	uint32_t bits = 0;

	for (uint32_t i = 0; i < GW_FLOW_BUCKET_WORDS; i++)
		bits |= (uint32_t)(gw_flow_state(gw_flow_peek(bucket, i)) == GW_FLOW_FREE) << i;
	return bits;
}

#endif
