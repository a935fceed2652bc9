/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * What the look-ups of service address, port span and service came to, remembered on each CPU: the
 * next packet for the same address, protocol and port has its service by one array look-up instead
 * of a hash and a search. Direct-mapped; a newer claim takes an older one's place.
 *
 * A claim holds for one generation of the services (abi/xdp_maps.h), which control raises after
 * each change of them and again once it has settled. The program takes the generation before it
 * looks anything up, so that what it found in the midst of a change is never taken for newer than
 * it is.
 */
#pragma once

#include "abi/xdp_maps.h"

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#define LB_CLAIMS_BITS 12

struct lb_claim {
	uint64_t address[2];
	uint32_t end; /* lb_claim_end; 0: never written */
	uint32_t generation;
	uint32_t service;
	uint16_t pool;
	uint8_t affinity;
	uint8_t flags; /* GW_SERVICE_* */
};
_Static_assert(sizeof(struct lb_claim) == 32, "two claims a cache line");
_Static_assert(GW_MAX_POOLS <= 1 << 16, "a claim has 16 bits for the pool");

/* Not pinned: whoever loads the program begins with none. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1 << LB_CLAIMS_BITS);
	__type(key, __u32);
	__type(value, struct lb_claim);
} lb_claims SEC(".maps");

/* Destination port and protocol, which is not 0. */
GW_INLINE uint32_t lb_claim_end(const struct gw_flow_key *key)
{
	return (uint32_t)key->protocol << 16 | key->destination_port;
}

/* Where the claim of this packet's destination is, or would be. */
GW_INLINE struct lb_claim *lb_claim_at(const struct gw_flow_key *key)
{
	uint32_t index = GW_WIRE_LOAD(uint32_t, key->destination.bytes + 12) ^
			 GW_WIRE_LOAD(uint32_t, key->destination.bytes + 4) ^ lb_claim_end(key);

	index = index * 0x9e3779b1u >> (32 - LB_CLAIMS_BITS);
	return bpf_map_lookup_elem(&lb_claims, &index);
}

GW_INLINE bool lb_claim_is(
	const struct lb_claim *claim, const struct gw_flow_key *key, uint32_t generation)
{
	return claim->address[0] == GW_WIRE_LOAD(uint64_t, key->destination.bytes) &&
	       claim->address[1] == GW_WIRE_LOAD(uint64_t, key->destination.bytes + 8) &&
	       claim->end == lb_claim_end(key) && claim->generation == generation;
}

/* Remembers the service of a packet with ports. */
GW_INLINE void lb_claim_write(const struct gw_flow_key *key, uint32_t generation, uint32_t number,
	const struct gw_service *service)
{
	struct lb_claim *claim = lb_claim_at(key);

	if (!claim)
		return;
	claim->address[0] = GW_WIRE_LOAD(uint64_t, key->destination.bytes);
	claim->address[1] = GW_WIRE_LOAD(uint64_t, key->destination.bytes + 8);
	claim->end = lb_claim_end(key);
	claim->generation = generation;
	claim->service = number;
	claim->pool = (uint16_t)service->pool;
	claim->affinity = service->affinity;
	claim->flags = service->flags;
}
