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

/* The low half. In eBPF it is one instruction, where the compiler takes two. */
GW_INLINE uint64_t gw_key_low(uint64_t word)
{
	uint32_t low = (uint32_t)word;

#ifdef GW_BPF
	asm volatile("%0 = %1" : "=w"(low) : "w"(low));
#endif
	return low;
}

/* Both halves of the 128-bit product, XORed; for machines whose products have 64 bits. */
GW_INLINE uint64_t gw_key_fold(uint64_t a, uint64_t b)
{
	uint64_t a_low = gw_key_low(a), a_high = a >> 32, b_low = gw_key_low(b), b_high = b >> 32;
	uint64_t across = a_low * b_high;
	uint64_t middle = a_high * b_low + (a_low * b_low >> 32) + gw_key_low(across);

	return a * b ^ (a_high * b_high + (middle >> 32) + (across >> 32));
}

/*
 * XXH3_64bits_withSeed for 40 bytes on a little-endian machine, word by word (xxHash's
 * specification, "XXH3 for inputs of 17 to 128 bytes"): for eBPF, where the general code is a
 * function call of some 200 instructions. The result is the same, bit for bit.
 */
GW_INLINE uint64_t gw_flow_hash_narrow(const struct gw_flow_key *key, uint64_t seed)
{
	const uint64_t *word = (const uint64_t *)key;
	uint64_t h = sizeof(*key) * 0x9e3779b185ebca87ull;

	h += gw_key_fold(
		word[0] ^ (0xbe4ba423396cfeb8ull + seed), word[1] ^ (0x1cad21f72c81017cull - seed));
	h += gw_key_fold(
		word[3] ^ (0xdb979083e96dd4deull + seed), word[4] ^ (0x1f67b3b7a4a44072ull - seed));
	h += gw_key_fold(
		word[2] ^ (0x78e5c0cc4ee679cbull + seed), word[3] ^ (0x2172ffcc7dd05a82ull - seed));
	h += gw_key_fold(
		word[1] ^ (0x8e2443f7744608b8ull + seed), word[2] ^ (0x4c263a81e69035e0ull - seed));
	h ^= h >> 37;
	h *= 0x165667919e3779f9ull;
	return h ^ h >> 32;
}

/* The hash that picks the slot: slot = hash % table_size. `seed` is hash_seed, one for the fleet.
 */
GW_INLINE uint64_t gw_flow_hash(const struct gw_flow_key *key, uint64_t seed)
{
#if defined(GW_BPF) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	return gw_flow_hash_narrow(key, seed);
#else
	return XXH3_64bits_withSeed(key, sizeof(*key), seed);
#endif
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
