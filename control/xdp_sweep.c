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
	return sweep->backend_flows && sweep->counting ? 0 : -ENOMEM;
}

void gw_xdp_sweep_fini(struct gw_xdp_sweep *sweep)
{
	free(sweep->backend_flows);
	free(sweep->counting);
	*sweep = (struct gw_xdp_sweep){0};
}

static void visit(struct gw_xdp_sweep *sweep, struct gw_flow_bucket *bucket, uint32_t now)
{
	for (int i = 0; i < GW_FLOW_BUCKET_WORDS; i++) {
		uint64_t live =
			gw_flow_sweep(&bucket->word[i], now, &sweep->object->config->timeouts);

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
		sweep->pass_started = now;
	}
	do {
		for (uint32_t i = 0;
			i < CLOCK_BUCKETS && sweep->bucket < sweep->object->bucket_count; i++)
			visit(sweep, &sweep->object->flows[sweep->bucket++], now);
	} while (sweep->bucket < sweep->object->bucket_count && uv_hrtime() < end);
	if (sweep->bucket == sweep->object->bucket_count)
		finish_pass(sweep);
}
