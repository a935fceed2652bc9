/* SPDX-License-Identifier: BSD-2-Clause */
/* The balancer's own word on a measurement: its counters before and after. */
#pragma once

#include "abi/verdict.h"
#include "bench.h"

/*
 * Fills the sample's counted fields, flows_new and untracked by how the counters grew, and adds to
 * its note what is no packet sent.
 */
void bench_count(const struct gw_counters *before, const struct gw_counters *after,
	struct bench_sample *sample);

/* Adds "name count" to the sample's note, as far as there is room; nothing of nothing. */
void bench_note(struct bench_sample *sample, const char *name, uint64_t count);
