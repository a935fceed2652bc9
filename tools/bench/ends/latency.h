/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Latencies, counted in buckets whose width grows with the value: each power of two is cut into
 * 128 buckets of equal width, so that a value read back is at most 1/128 (0.8 %) above the one that
 * was put in, from one tick to a quarter of an hour, in 36 KB and without a sort. Unit: whatever
 * the caller counts in, here TSC ticks. One thread.
 */
#pragma once

#include <stdint.h>

#define BENCH_LATENCY_BITS    7
#define BENCH_LATENCY_CUTS    (1u << BENCH_LATENCY_BITS)
#define BENCH_LATENCY_TOP     41 /* values from 2^41 ticks up share the last bucket */
#define BENCH_LATENCY_BUCKETS ((BENCH_LATENCY_TOP - BENCH_LATENCY_BITS + 1) * BENCH_LATENCY_CUTS)

struct bench_latency {
	uint64_t count;
	uint64_t longest; /* exact */
	uint64_t bucket[BENCH_LATENCY_BUCKETS];
};

/* Bucket of a value; below 128 each value has its own. */
static inline uint32_t bench_latency_bucket(uint64_t value)
{
	uint32_t octave;

	if (value < BENCH_LATENCY_CUTS)
		return (uint32_t)value;
	if (value >> BENCH_LATENCY_TOP)
		return BENCH_LATENCY_BUCKETS - 1;
	octave = 63 - (uint32_t)__builtin_clzll(value) - BENCH_LATENCY_BITS;
	return (octave << BENCH_LATENCY_BITS) + (uint32_t)(value >> octave);
}

static inline void bench_latency_add(struct bench_latency *latency, uint64_t value)
{
	latency->count++;
	latency->bucket[bench_latency_bucket(value)]++;
	if (value > latency->longest)
		latency->longest = value;
}

/*
 * The smallest value that at least this share (0 to 1) of all are not above, by nearest rank: the
 * upper end of its bucket, and never more than the longest. 0 when there are none.
 */
uint64_t bench_latency_at(const struct bench_latency *latency, double share);
