/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * How many too-big answers a node gives: 1000 a second, 100 at once (packets.md; RFC 4443 section
 * 2.4 (f) asks for a limit). The generic cell rate algorithm (ITU-T I.371) in one 64-bit word that
 * all CPUs share: the time at which the bucket will be full again. Changed by compare-and-swap
 * only.
 */
#pragma once

#include "abi/flow_word.h"

#define GW_LIMIT_INTERVAL_NS 1000000ull /* 1000 a second */
#define GW_LIMIT_BURST	     100ull
#define GW_LIMIT_ATTEMPTS    4

/*
 * Takes one; false when there is none. `now_ns` is a monotonic clock. A word from far in the future
 * is of a clock that has gone back (a replay), and counts for nothing. Who loses the race for the
 * word several times has others who answer in his place.
 */
GW_INLINE bool gw_limit_take(uint64_t *word, uint64_t now_ns)
{
	for (int i = 0; i < GW_LIMIT_ATTEMPTS; i++) {
		uint64_t old = *(volatile uint64_t *)word, due = old;

		if (old < now_ns || old - now_ns > 2 * GW_LIMIT_BURST * GW_LIMIT_INTERVAL_NS)
			due = now_ns;
		if (due - now_ns > (GW_LIMIT_BURST - 1) * GW_LIMIT_INTERVAL_NS)
			return false;
		if (gw_flow_swap(word, old, due + GW_LIMIT_INTERVAL_NS))
			return true;
	}
	return false;
}
