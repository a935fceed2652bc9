/* SPDX-License-Identifier: BSD-2-Clause */
#include "control/xdp_sweep.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

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
		uint64_t word = __atomic_load_n(&bucket->word[i], __ATOMIC_RELAXED);

		if (gw_flow_state(word) == GW_FLOW_FREE)
			continue;
		if (gw_flow_expired(word, now, &sweep->object->config->timeouts)) {
			/* Lost the race: the flow has just come back to life. */
			if (gw_flow_swap(&bucket->word[i], word, GW_FLOW_RETIRED))
				continue;
		}
		sweep->counting_active++;
		if (gw_flow_backend(word) < GW_XDP_BACKENDS)
			sweep->counting[gw_flow_backend(word)]++;
	}
}

static uint64_t clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000ull + (uint64_t)now.tv_nsec;
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
	uint64_t end = clock_ns() + SLICE_NS;

	if (sweep->bucket == 0) {
		if (now == sweep->pass_started)
			return;
		sweep->pass_started = now;
	}
	do {
		for (uint32_t i = 0;
			i < CLOCK_BUCKETS && sweep->bucket < sweep->object->bucket_count; i++)
			visit(sweep, &sweep->object->flows[sweep->bucket++], now);
	} while (sweep->bucket < sweep->object->bucket_count && clock_ns() < end);
	if (sweep->bucket == sweep->object->bucket_count)
		finish_pass(sweep);
}
