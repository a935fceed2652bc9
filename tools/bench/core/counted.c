/* SPDX-License-Identifier: BSD-2-Clause */
#include "counted.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *const drop_names[GW_DROP_COUNT] = {
#define DROP_NAME(NAME, name, text) [GW_DROP_##NAME] = name,
	GW_DROP_REASONS(DROP_NAME)
#undef DROP_NAME
};

void bench_note(struct bench_sample *sample, const char *name, uint64_t count)
{
	size_t used = strlen(sample->note);

	if (count)
		snprintf(sample->note + used, sizeof(sample->note) - used, "%s%s %" PRIu64,
			used ? ", " : "", name, count);
}

void bench_count(const struct gw_counters *before, const struct gw_counters *after,
	struct bench_sample *sample)
{
	const struct {
		const char *name;
		uint64_t grown;
	} others[] = {
		{"to_host", after->to_host - before->to_host},
		{"replied", after->replied - before->replied},
		{"consumed", after->consumed - before->consumed},
		{"held", after->held - before->held},
	};

	sample->counted_rx = after->rx - before->rx;
	sample->counted_tx = after->tx - before->tx;
	sample->counted_drops = sample->counted_other = 0;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		sample->counted_other += others[i].grown;
		bench_note(sample, others[i].name, others[i].grown);
	}
	for (int i = 0; i < GW_DROP_COUNT; i++) {
		sample->counted_drops += after->drops[i] - before->drops[i];
		bench_note(sample, drop_names[i], after->drops[i] - before->drops[i]);
	}
	bench_note(sample, "tx_full", after->tx_full - before->tx_full);
	bench_note(sample, "xmit_failed", after->xmit_failed - before->xmit_failed);
	sample->flows_new = after->flows_new - before->flows_new;
	sample->remembered = after->flows_new;
	sample->untracked = after->untracked - before->untracked;
}
