/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Plain C that compilers turn into vector code: blocks of members, no branches in a block, no
 * functions of the C library. Compiled with KERNEL naming the table and without contraction into
 * fused multiply-add, so that every machine ranks members alike.
 */
#include "chash/rendezvous_kernel.h"

#include "chash/hash.h"

#include <string.h>

#define BLOCK 256

#define LN2_HIGH 0x1.62e42fee00000p-1 /* ln 2 to 32 bits: exact when multiplied by an exponent */
#define LN2_LOW	 0x1.a39ef35793c76p-33

static inline uint64_t bits_of(double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

static inline double double_of(uint64_t bits)
{
	double value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

/*
 * -ln(u), at least 0, for u in (0, 1] from the upper 52 bits of a hash: the larger the hash, the
 * nearer u is to 1, so that with equal weights the largest hash is the smallest score. u = 2^e * m
 * with m near 1, and ln m = 2 artanh(s), s = (m-1)/(m+1), |s| < 0.172, by its series: accurate to a
 * few units in the last place.
 */
static inline double minus_log(uint64_t hash)
{
	double u = 2.0 - double_of(0x3ff0000000000000ull | ~hash >> 12);
	uint64_t bits = bits_of(u);
	/* Exponents are counted from sqrt(1/2), so that m lies between that and its inverse. */
	uint64_t shifted = bits - 0x3fe6a09e667f3bcdull;
	int64_t exponent = (int64_t)shifted >> 52;
	double m = double_of(bits - ((uint64_t)exponent << 52));
	double s = (m - 1.0) / (m + 1.0), z = s * s;
	/* The exponent as a double, by way of the mantissa: there is no vector conversion in AVX2.
	 */
	double e = double_of(0x4338000000000000ull + (uint64_t)exponent) - 0x1.8p52;
	double series = 1.0 / 21;

	series = series * z + 1.0 / 19;
	series = series * z + 1.0 / 17;
	series = series * z + 1.0 / 15;
	series = series * z + 1.0 / 13;
	series = series * z + 1.0 / 11;
	series = series * z + 1.0 / 9;
	series = series * z + 1.0 / 7;
	series = series * z + 1.0 / 5;
	series = series * z + 1.0 / 3;
	double log = 2.0 * s + 2.0 * s * z * series;

	return 0.0 - (e * LN2_HIGH + (e * LN2_LOW + log));
}

static inline void block_scores(const uint64_t *restrict seeds, const double *restrict periods,
	size_t count, uint64_t key, double *restrict scores)
{
	for (size_t i = 0; i < count; i++)
		scores[i] = minus_log(hash_mix(key ^ seeds[i])) * periods[i];
}

static void kernel_scores(
	const uint64_t *seeds, const double *periods, size_t count, uint64_t key, double *scores)
{
	block_scores(seeds, periods, count, key, scores);
}

static size_t kernel_largest(const uint64_t *seeds, size_t count, uint64_t key)
{
	uint64_t hashes[BLOCK], most = 0;
	size_t best = 0;

	for (size_t from = 0; from < count; from += BLOCK) {
		size_t size = count - from < BLOCK ? count - from : BLOCK;
		uint64_t block_most = 0;

		for (size_t i = 0; i < size; i++)
			hashes[i] = hash_mix(key ^ seeds[from + i]);
		for (size_t i = 0; i < size; i++)
			block_most = hashes[i] > block_most ? hashes[i] : block_most;
		if (from && block_most <= most)
			continue;
		most = block_most;
		for (best = 0; hashes[best] != most; best++)
			;
		best += from;
	}
	return best;
}

/* Scores are not negative, so their bits compare as they do; that lets integers do it. */
static size_t kernel_smallest(
	const uint64_t *seeds, const double *periods, size_t count, uint64_t key)
{
	double scores[BLOCK];
	uint64_t least = UINT64_MAX;
	size_t best = 0;

	for (size_t from = 0; from < count; from += BLOCK) {
		size_t size = count - from < BLOCK ? count - from : BLOCK;
		uint64_t block_least = UINT64_MAX;

		block_scores(seeds + from, periods + from, size, key, scores);
		for (size_t i = 0; i < size; i++) {
			uint64_t bits = bits_of(scores[i]);

			block_least = bits < block_least ? bits : block_least;
		}
		if (block_least >= least)
			continue;
		least = block_least;
		for (best = 0; bits_of(scores[best]) != least; best++)
			;
		best += from;
	}
	return best;
}

const struct rendezvous_kernel KERNEL = {kernel_largest, kernel_smallest, kernel_scores};
