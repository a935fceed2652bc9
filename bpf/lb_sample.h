/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/* The sample of flows (abi/flow_sample.h), written on a flow's first packet. */
#pragma once

#include "abi/flow_sample.h"
#include "lb_maps.h"
#include "lb_state.h"

__noinline int lb_flow_sample(struct lb_state *state)
{
	uint32_t zero = 0, place;
	const struct gw_xdp_config *config = bpf_map_lookup_elem(&gw_config, &zero);
	struct gw_flow_sample *sample;

	if (!state || !config)
		return 0;
	place = gw_flow_sample_place(&state->packet.key, state->hash);
	sample = bpf_map_lookup_elem(&gw_flow_samples, &place);
	if (sample)
		gw_flow_sample_write(
			sample, &state->packet.key, (uint32_t)(lb_now_ns(config) / 1000000000u));
	return 0;
}
