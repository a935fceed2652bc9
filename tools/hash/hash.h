/* SPDX-License-Identifier: BSD-2-Clause */
/* The verbs of guideway-hash; each returns an exit status and has said what went wrong. */
#pragma once

#include "args.h"

int table_run(const struct args *args);
int lookup_run(const struct args *args);
int simulate_run(const struct args *args);
int compare_run(const struct args *args);
int bench_run(const struct args *args);

/* What stands in a Maglev slot: a position in the view's members. */
static inline uint32_t slot_at(const struct gw_chash_slots *slots, uint32_t i)
{
	return slots->u16 ? slots->u16[i] : slots->u32[i];
}
