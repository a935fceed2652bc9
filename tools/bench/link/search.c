/* SPDX-License-Identifier: BSD-2-Clause */
#include "search.h"

#define WIRE_OVERHEAD 20 /* preamble and start delimiter 8, gap between frames 12 */

void bench_search_begin(struct bench_search *search, const struct bench_search_rule *rule)
{
	*search = (struct bench_search){.rule = *rule, .rate = rule->highest};
}

bool bench_search_passes(const struct bench_search_rule *rule, uint64_t offered, uint64_t lost)
{
	return offered && (double)lost <= rule->tolerance * (double)offered;
}

/* In the middle between what passed and what lost; 0 when that is near enough. */
static uint64_t next_rate(const struct bench_search *search)
{
	uint64_t distance = search->failed - search->passed;

	if (!search->failed || distance < 2 ||
		(double)distance <= search->rule.resolution * (double)search->rule.highest)
		return 0;
	return search->passed + distance / 2;
}

void bench_search_trial(struct bench_search *search, uint64_t offered, uint64_t lost)
{
	if (!search->rate)
		return;
	search->trials++;
	if (bench_search_passes(&search->rule, offered, lost)) {
		search->passed = search->rate;
	} else {
		if (search->losses++ < search->rule.repeats)
			return;
		search->failed = search->rate;
	}
	search->losses = 0;
	search->rate = next_rate(search);
}

uint64_t bench_line_rate(uint64_t mbps, double size)
{
	return (uint64_t)((double)mbps * 1e6 / 8 / (size + WIRE_OVERHEAD));
}
