/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * Where a flow lives in the XDP path's table: the second hash, made of what eBPF is good at. XXH3
 * wants products of 128 bits, each some 25 instructions there; NH (Black, Halevi, Krawczyk,
 * Krovetz, Rogaway, "UMAC: fast and secure message authentication", CRYPTO 1999) wants one of 64
 * bits for every 64 bits of input, and two keys that differ have equal sums for at most one seed in
 * 2^32, whoever chose them. The sum is then finished, as its low bits are weak. An IPv4 key is two
 * words, as what else is in it never varies. DPDK's table has its own (gw_flow_place): the two
 * tables never meet.
 */
#pragma once

#include "abi/flow_word.h"
#include "abi/wire.h"

GW_INLINE uint64_t gw_flow_nh(uint64_t word, uint64_t secret)
{
	word += secret;
	return (word & 0xffffffffu) * (word >> 32);
}

/* Odd numbers that make five secrets of one seed. */
#define GW_FLOW_SECRET_1 0x9e3779b185ebca87ull
#define GW_FLOW_SECRET_2 0xc2b2ae3d27d4eb4full
#define GW_FLOW_SECRET_3 0x165667919e3779f9ull
#define GW_FLOW_SECRET_4 0x85ebca77c2b2ae63ull
#define GW_FLOW_FINISH	 0x9fb21c651e98df25ull

GW_INLINE uint64_t gw_flow_sum_ipv4(const struct gw_flow_key *key, uint64_t seed)
{
	uint64_t source = GW_WIRE_LOAD(uint32_t, key->source.bytes + 12);
	uint64_t destination = GW_WIRE_LOAD(uint32_t, key->destination.bytes + 12);

	return gw_flow_nh(destination << 32 | source, seed) +
	       gw_flow_nh(GW_WIRE_LOAD(uint64_t, &key->source_port), seed * GW_FLOW_SECRET_1);
}

GW_INLINE uint64_t gw_flow_sum_ipv6(const struct gw_flow_key *key, uint64_t seed)
{
	return gw_flow_nh(GW_WIRE_LOAD(uint64_t, key->source.bytes), seed) +
	       gw_flow_nh(GW_WIRE_LOAD(uint64_t, &key->source_port), seed * GW_FLOW_SECRET_1) +
	       gw_flow_nh(GW_WIRE_LOAD(uint64_t, key->source.bytes + 8), seed * GW_FLOW_SECRET_2) +
	       gw_flow_nh(GW_WIRE_LOAD(uint64_t, key->destination.bytes), seed * GW_FLOW_SECRET_3) +
	       gw_flow_nh(
		       GW_WIRE_LOAD(uint64_t, key->destination.bytes + 8), seed * GW_FLOW_SECRET_4);
}

/* The place of a key whose family is known; `family` is GW_IPV4 or GW_IPV6. */
GW_INLINE struct gw_flow_place gw_xdp_flow_place_of(
	const struct gw_flow_key *key, uint8_t family, uint64_t seed, uint32_t buckets)
{
	uint64_t h = family == GW_IPV4 ? gw_flow_sum_ipv4(key, seed) : gw_flow_sum_ipv6(key, seed);

	h ^= h >> 32;
	h *= GW_FLOW_FINISH;
	h ^= h >> 32;
	return gw_flow_place_of(h, key->protocol, buckets);
}

/* `buckets`: how many the table has; even. */
GW_INLINE struct gw_flow_place gw_xdp_flow_place(
	const struct gw_flow_key *key, uint64_t seed, uint32_t buckets)
{
	uint8_t family = gw_address_is_ipv4(&key->destination) ? GW_IPV4 : GW_IPV6;

	return gw_xdp_flow_place_of(key, family, seed, buckets);
}
