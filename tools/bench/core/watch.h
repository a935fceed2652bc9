/* SPDX-License-Identifier: BSD-2-Clause */
/* Who else had the measured core: between two moments, from /proc/stat and getrusage(2). */
#pragma once

#include <stdint.h>

struct watch {
	int cpu, sibling; /* -1: the core has one thread, or it is not known */
	uint64_t total, steal;
	uint64_t sibling_total, sibling_idle;
	uint64_t preempted;
	/* What came of it. */
	double steal_share;
	double sibling_busy;
};

void watch_begin(struct watch *watch, int cpu);
/* Shares of the time since the beginning; `preempted` counts from then on. */
void watch_end(struct watch *watch);
