/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * The canonical key of a flow and its two hashes. Both datapaths, the control process and the tools
 * compute them from this file, so that "same packet, same backend" holds on every node.
 *
 * XXH3_64bits_withSeed is xxHash's XXH3 (libxxhash's header, inlined). For BPF the build passes
 * -U__SIZEOF_INT128__ and -D__<arch>__; the results are equal.
 */
#pragma once

#include "abi/types.h"

#ifndef XXH_INLINE_ALL
#	define XXH_INLINE_ALL
#endif
#include <xxhash.h>

/* Ports in network order; zero where the affinity or the protocol has none. Wire-independent of
 * padding. */
struct gw_flow_key {
	struct gw_address source;
	struct gw_address destination;
	__be16 source_port;
	__be16 destination_port;
	uint8_t protocol;
	uint8_t zero[3];
};
_Static_assert(sizeof(struct gw_flow_key) == 40, "the canonical key is 40 bytes");

/* What of the flow decides the backend. The protocol always counts. */
enum gw_affinity {
	GW_AFFINITY_5TUPLE = 0,
	GW_AFFINITY_SOURCE_IP = 1,	   /* source address and protocol only */
	GW_AFFINITY_SOURCE_IP_SERVICE = 2, /* source and destination address, destination port */
};

/* The hash that picks the slot: slot = hash % table_size. `seed` is hash_seed, one for the fleet.
 */
GW_INLINE uint64_t gw_flow_hash(const struct gw_flow_key *key, uint64_t seed)
{
	return XXH3_64bits_withSeed(key, sizeof(*key), seed);
}

/*
 * The key as the affinity sees it: fields that do not count become zero. The tracked flow is always
 * the full 5-tuple; only the choice of the slot goes by the reduced key.
 */
GW_INLINE void gw_flow_key_reduce(struct gw_flow_key *key, uint8_t affinity)
{
	if (affinity == GW_AFFINITY_5TUPLE)
		return;
	key->source_port = 0;
	if (affinity == GW_AFFINITY_SOURCE_IP) {
		__builtin_memset(&key->destination, 0, sizeof(key->destination));
		key->destination_port = 0;
	}
}
