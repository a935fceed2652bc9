/* SPDX-License-Identifier: BSD-2-Clause */
#include "pairs.h"

#include <math.h>

#define SLICE_SECONDS 0.1
#define SLICE_SWAPS   5	   /* in a slice, where a round has room for them */
#define CONFIDENCE    1.96 /* standard deviations of a binomial on either side: 95 % */
#define DECIDED	      0.02 /* half the distance of the bounds, at most */

struct pairs_plan pairs_plan(const struct bench_case *what, double seconds, uint32_t rounds)
{
	double slice = fmax(SLICE_SECONDS, SLICE_SWAPS / (double)what->swaps_per_second);
	double pairs;

	slice = fmin(slice, seconds);
	pairs = fmax(ceil(seconds / slice), ceil((double)PAIRS_LEAST / rounds));
	return (struct pairs_plan){.a_round = (uint32_t)pairs, .seconds = slice};
}

struct spread pairs_median(double *shares, size_t count)
{
	struct spread spread = spread_of(shares, count);
	double rank = floor(((double)count - CONFIDENCE * sqrt((double)count)) / 2);
	size_t low = rank >= 1 ? (size_t)rank - 1 : 0; /* ranks count from 1 */

	spread.min = shares[low];
	spread.max = shares[count - 1 - low];
	return spread;
}

bool pairs_decide(const struct spread *median)
{
	return (median->max - median->min) / 2 <= DECIDED;
}
