/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What table swaps cost, on a machine whose clock and neighbours change from second to second: the
 * balancer is measured in pairs of short slices that follow each other, one with swaps and one
 * without, in changing order, and each pair gives the share by which swaps make a packet dearer.
 * What changes slowly hits both slices of a pair alike; the median of many pairs is little moved by
 * those that it does not, and how sure it is can be told from the pairs themselves.
 */
#pragma once

#include "measure.h"

struct pairs_plan {
	uint32_t a_round;
	double seconds; /* of each of a pair's two slices */
};

/* At least PAIRS_LEAST in all rounds, of some swaps each; as long as `seconds` where that is more.
 */
#define PAIRS_LEAST 40
/* Where they do not decide, so many more at a time, until there are PAIRS_MOST. */
#define PAIRS_MORE 20
#define PAIRS_MOST 400
struct pairs_plan pairs_plan(const struct bench_case *what, double seconds, uint32_t rounds);

/*
 * The median of the pairs' shares, and as min and max the bounds within which the true median is
 * with 95 % confidence: order statistics, ranks n/2 -+ 1.96 sqrt(n)/2 (Campbell and Gardner, BMJ
 * 296, 1988). Sorts them; `count` is above 0. With few the bounds are the lowest and the highest.
 */
struct spread pairs_median(double *shares, size_t count);

/* Are the bounds near enough to each other to tell two per cent? */
bool pairs_decide(const struct spread *median);
