/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * A bounded sample of flows with their addresses. The flow table itself keeps only tags, which
 * cannot be read back into addresses; so whoever inserts a flow also writes its key to one of a
 * few places, by the flow's hash, over what stood there. It costs one cache line on a flow's first
 * packet and nothing on all others.
 *
 * Writers do not wait for each other: two may write one place at once, and a reader may see half
 * of each. Readers therefore ask the flow table for each key that they read (exactly, as for one
 * flow) and leave out what it does not know: half keys, and flows that have ended.
 */
#pragma once

#include "abi/key.h"

#define GW_FLOW_SAMPLES 4096u /* a power of two */

struct gw_flow_sample {
	struct gw_flow_key key; /* the full 5-tuple; protocol 0: nothing was written yet */
	uint32_t second;	/* CLOCK_MONOTONIC, of the first packet */
	uint32_t reserved[5];
};
_Static_assert(sizeof(struct gw_flow_sample) == 64, "a sample is a cache line");

/* The hash may leave the ports out (affinity): a client's flows still spread. */
GW_INLINE uint32_t gw_flow_sample_place(const struct gw_flow_key *key, uint64_t hash)
{
	return ((uint32_t)(hash >> 32) ^ key->source_port) & (GW_FLOW_SAMPLES - 1);
}

GW_INLINE void gw_flow_sample_write(
	struct gw_flow_sample *sample, const struct gw_flow_key *key, uint32_t second)
{
	/* Once a second at most: cores that open flows would take each other's lines away. */
	if (*(volatile uint32_t *)&sample->second == second)
		return;
	sample->key = *key;
	sample->second = second;
}
