/* SPDX-License-Identifier: BSD-2-Clause */
#include "control/xdp_sweep.h"

#include <uv.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SLICE_NS      2000000u
#define CLOCK_BUCKETS 1024u /* the clock is read once for so many */

int gw_xdp_sweep_init(struct gw_xdp_sweep *sweep, const struct gw_xdp_object *object)
{
	*sweep = (struct gw_xdp_sweep){.object = object};
	sweep->backend_flows = calloc(GW_XDP_BACKENDS, sizeof(*sweep->backend_flows));
	sweep->counting = calloc(GW_XDP_BACKENDS, sizeof(*sweep->counting));
	sweep->marks = calloc(2 * gw_flow_sweep_words(object->bucket_count), sizeof(*sweep->marks));
	return sweep->backend_flows && sweep->counting && sweep->marks ? 0 : -ENOMEM;
}

void gw_xdp_sweep_fini(struct gw_xdp_sweep *sweep)
{
	free(sweep->backend_flows);
	free(sweep->counting);
	free(sweep->marks);
	*sweep = (struct gw_xdp_sweep){0};
}

static void visit(struct gw_xdp_sweep *sweep, uint32_t bucket, uint32_t now)
{
	const struct gw_flow_timeouts *timeouts = &sweep->object->config->timeouts;
	uint64_t *word = sweep->object->flows[bucket].word;

	for (int i = 0; i < GW_FLOW_BUCKET_WORDS; i++) {
		uint64_t live = gw_flow_sweep_word(&sweep->walk, bucket, &word[i], now, timeouts);

		if (live == GW_FLOW_EMPTY)
			continue;
		sweep->counting_active++;
		if (gw_flow_backend(live) < GW_XDP_BACKENDS)
			sweep->counting[gw_flow_backend(live)]++;
	}
}

static void finish_pass(struct gw_xdp_sweep *sweep)
{
	uint32_t *counted = sweep->counting;

	sweep->counting = sweep->backend_flows;
	sweep->backend_flows = counted;
	memset(sweep->counting, 0, GW_XDP_BACKENDS * sizeof(*sweep->counting));
	sweep->active = sweep->counting_active;
	sweep->counting_active = 0;
	sweep->bucket = 0;
}

void gw_xdp_sweep_slice(struct gw_xdp_sweep *sweep, uint32_t now)
{
	uint64_t end = uv_hrtime() + SLICE_NS;

	if (sweep->bucket == 0) {
		if (now == sweep->pass_started)
			return;
		if (sweep->walk.buckets)
			gw_flow_sweep_next(&sweep->walk, now);
		else
			gw_flow_sweep_start(
				&sweep->walk, sweep->object->bucket_count, sweep->marks, now);
		sweep->pass_started = now;
	}
	do {
		for (uint32_t i = 0;
			i < CLOCK_BUCKETS && sweep->bucket < sweep->object->bucket_count; i++)
			visit(sweep, sweep->bucket++, now);
	} while (sweep->bucket < sweep->object->bucket_count && uv_hrtime() < end);
	if (sweep->bucket == sweep->object->bucket_count)
		finish_pass(sweep);
}
