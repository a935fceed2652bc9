/* SPDX-License-Identifier: BSD-2-Clause */
/* CLOCK_MONOTONIC as one number. */
#pragma once

#include <stdint.h>
#include <time.h>

static inline uint64_t bench_clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static inline double bench_clock_seconds(void)
{
	return (double)bench_clock_ns() * 1e-9;
}
