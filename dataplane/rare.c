/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Between the choice of backends and the outer headers: ICMP and fragments of this burst, in their
 * order, so that a later fragment finds what its first one in the same burst has decided.
 */
#include "pipeline.h"

void gw_stage_rare(struct gw_worker *worker, struct gw_burst *burst)
{
	for (uint16_t k = 0; k < burst->rare_count; k++) {
		uint8_t i = burst->rare[k];
		uint8_t fragment = burst->packet[i].fragment;
		bool goes_on = false;

		if (fragment == GW_FRAGMENT_LATER)
			goes_on = gw_fragment_later(worker, burst, i);
		else if (fragment == GW_WHOLE)
			goes_on = gw_icmp(worker, burst, i);
		else
			gw_fragment_first(worker, burst, i);
		if (goes_on)
			burst->live[burst->live_count++] = i;
	}
}
