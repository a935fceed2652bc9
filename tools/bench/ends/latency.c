/* SPDX-License-Identifier: BSD-2-Clause */
#include "latency.h"

#include <math.h>

/* The highest value that falls into a bucket. */
static uint64_t bucket_end(uint32_t bucket)
{
	uint32_t octave;

	if (bucket < 2 * BENCH_LATENCY_CUTS)
		return bucket;
	octave = (bucket >> BENCH_LATENCY_BITS) - 1;
	return ((uint64_t)(bucket - (octave << BENCH_LATENCY_BITS) + 1) << octave) - 1;
}

uint64_t bench_latency_at(const struct bench_latency *latency, double share)
{
	uint64_t rank = (uint64_t)ceil(share * (double)latency->count);
	uint64_t seen = 0;

	if (rank < 1)
		rank = 1;
	for (uint32_t i = 0; i < BENCH_LATENCY_BUCKETS; i++) {
		seen += latency->bucket[i];
		if (seen >= rank) {
			uint64_t end = bucket_end(i);

			return end < latency->longest ? end : latency->longest;
		}
	}
	return latency->longest;
}
