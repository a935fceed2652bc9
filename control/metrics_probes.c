/* SPDX-License-Identifier: BSD-2-Clause */
#include "metrics_families.h"

#include <stdio.h>

/* Every second bound that the monitor counts by: thousands of backends make many series. */
#define BOUND_FIRST 1
#define BOUND_STEP  2

static void durations_write(struct metrics_text *text, const char *pool, const char *backend,
	const struct gw_durations *durations)
{
	char bound[24] = "";
	const struct metrics_label labels[] = {{"pool", pool}, {"backend", backend}, {"le", bound}};
	uint64_t below = 0;

	for (size_t i = 0; i < GW_DURATION_BUCKETS; i++) {
		below += durations->buckets[i];
		if (i < BOUND_FIRST || (i - BOUND_FIRST) % BOUND_STEP)
			continue;
		snprintf(bound, sizeof(bound), "%g", gw_duration_bounds_us[i] / 1e6);
		metrics_part(text, "_bucket", labels, 3);
		metrics_count(text, below);
	}
	snprintf(bound, sizeof(bound), "+Inf");
	metrics_part(text, "_bucket", labels, 3);
	metrics_count(text, durations->count);
	metrics_part(text, "_sum", labels, 2);
	metrics_real(text, (double)durations->sum_us / 1e6);
	metrics_part(text, "_count", labels, 2);
	metrics_count(text, durations->count);
}

void metrics_probes(struct metrics_text *text, const struct gw_daemon *daemon)
{
	const struct gw_build *build = daemon->build;
	struct gw_monitor_view view;
	bool begun = false;

	for (size_t p = 0; p < build->pool_count && daemon->monitor; p++)
		for (size_t b = 0; b < build->pools[p].backend_count; b++) {
			const char *pool = build->pools[p].name;
			const char *backend = build->pools[p].backends[b].name;

			if (!gw_monitor_view(daemon->monitor, pool, backend, &view))
				continue;
			if (!begun)
				metrics_family(text, "guideway_probe_duration_seconds",
					METRICS_HISTOGRAM,
					"How long the backend's probes took, answered or not.");
			begun = true;
			durations_write(text, pool, backend, view.durations);
		}
}
