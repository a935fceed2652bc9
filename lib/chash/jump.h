/* SPDX-License-Identifier: BSD-2-Clause */
/* Jump's arithmetic, which MementoHash starts from too. Internal. */
#pragma once

#include <stdint.h>

/* 0 ... count-1, for a count above 0 (Lamping and Veach, arXiv 1406.2294, figure 1). */
static inline uint32_t jump_bucket(uint64_t key, uint32_t count)
{
	int64_t bucket, next = 0;

	do {
		bucket = next;
		key = key * 2862933555777941757ull + 1;
		next = (int64_t)((double)(bucket + 1) *
				 (0x1p31 / (double)((int64_t)(key >> 33) + 1)));
	} while (next < count);
	return (uint32_t)bucket;
}
