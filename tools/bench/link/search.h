/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The search for the highest rate without loss, as RFC 2544 section 26.1 describes a throughput
 * test: trial by trial, the first at the highest rate there can be, then halving the distance
 * between the highest rate that lost nothing and the lowest that did, until it is as small as
 * asked.
 *
 * A trial that lost may be repeated before it is believed ("binary search with loss verification",
 * ETSI GS NFV-TST 009 section 12.3.3): one disturbance of a shared machine then does not halve
 * the result. RFC 2544 itself repeats nothing.
 *
 * No packets here: the caller makes the trials. Pure; one thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct bench_search_rule {
	uint64_t highest;  /* frames a second, above 0: the line rate, or all that can be sent */
	double resolution; /* as a share of `highest`: when to stop, 0.01 and the like */
	double tolerance;  /* share of the frames of a trial that may be lost; 0: none */
	uint32_t repeats;  /* of a trial that lost, before it counts as lost */
};

struct bench_search {
	struct bench_search_rule rule;
	uint64_t passed; /* highest rate of a trial that passed; 0: none yet */
	uint64_t failed; /* lowest rate of one that lost; 0: none yet */
	uint64_t rate;	 /* of the next trial; 0: the search is over */
	uint32_t losses; /* trials that lost at `rate`, so far */
	uint32_t trials;
};

void bench_search_begin(struct bench_search *search, const struct bench_search_rule *rule);

/*
 * Takes the outcome of a trial at search->rate: `offered` frames went out, `lost` of them did not
 * come back. A trial that offered nothing counts as lost. Then search->rate is the next rate, and
 * 0 when search->passed is the result (0: no rate passed).
 */
void bench_search_trial(struct bench_search *search, uint64_t offered, uint64_t lost);

/* True when a trial with these figures passes. */
bool bench_search_passes(const struct bench_search_rule *rule, uint64_t offered, uint64_t lost);

/*
 * Frames a second that a link of `mbps` carries at most, with frames of `size` bytes (check
 * sequence included): preamble, start delimiter and gap take another 20 bytes (IEEE 802.3).
 * `size` may be an average.
 */
uint64_t bench_line_rate(uint64_t mbps, double size);
