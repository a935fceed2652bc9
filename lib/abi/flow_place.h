/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * Where a flow lives in the flow table: the second hash, of the whole key with a random seed, so
 * that a client cannot aim at collisions. NH (Black, Halevi, Krawczyk, Krovetz, Rogaway, "UMAC:
 * fast and secure message authentication", CRYPTO 1999) wants one product of 64 bits for every 64
 * bits of input, where XXH3 wants one of 128, which in eBPF is some 25 instructions; two keys that
 * differ have equal sums for at most one seed in 2^32, whoever chose them. The sum is then
 * finished, as its low bits are weak. An IPv4 key is two words, as what else is in it never varies.
 */
#pragma once

#include "abi/flow_word.h"
#include "abi/wire.h"

GW_INLINE uint64_t gw_flow_nh(uint64_t word, uint64_t secret)
{
	word += secret;
	return gw_key_low(word) * (word >> 32);
}

/* Odd numbers that make five secrets of one seed. */
#define GW_FLOW_SECRET_1 0x9e3779b185ebca87ull
#define GW_FLOW_SECRET_2 0xc2b2ae3d27d4eb4full
#define GW_FLOW_SECRET_3 0x165667919e3779f9ull
#define GW_FLOW_SECRET_4 0x85ebca77c2b2ae63ull
#define GW_FLOW_FINISH	 0x9fb21c651e98df25ull

struct gw_flow_secrets {
	uint64_t word[5];
};

GW_INLINE struct gw_flow_secrets gw_flow_secrets(uint64_t seed)
{
	return (struct gw_flow_secrets){{seed, seed * GW_FLOW_SECRET_1, seed * GW_FLOW_SECRET_2,
		seed * GW_FLOW_SECRET_3, seed * GW_FLOW_SECRET_4}};
}

/* Addresses as they lie in memory; `rest` is the key's last word, from the ports on. */
GW_INLINE uint64_t gw_flow_sum_ipv4(
	uint32_t source, uint32_t destination, uint64_t rest, const struct gw_flow_secrets *secrets)
{
	return gw_flow_nh((uint64_t)destination << 32 | source, secrets->word[0]) +
	       gw_flow_nh(rest, secrets->word[1]);
}

/* `source` and `destination`: two words each, as they lie in memory. */
GW_INLINE uint64_t gw_flow_sum_ipv6(const uint64_t *source, const uint64_t *destination,
	uint64_t rest, const struct gw_flow_secrets *secrets)
{
	return gw_flow_nh(source[0], secrets->word[0]) + gw_flow_nh(rest, secrets->word[1]) +
	       gw_flow_nh(source[1], secrets->word[2]) +
	       gw_flow_nh(destination[0], secrets->word[3]) +
	       gw_flow_nh(destination[1], secrets->word[4]);
}

/* The place of a key whose sum is `h`. `buckets`: how many the table has; even. */
GW_INLINE struct gw_flow_place gw_flow_place_of_sum(uint64_t h, uint8_t protocol, uint32_t buckets)
{
	h ^= h >> 32;
	h *= GW_FLOW_FINISH;
	h ^= h >> 32;
	return gw_flow_place_of(h, protocol, buckets);
}

/* The place of a key whose family is known; `family` is GW_IPV4 or GW_IPV6. */
GW_INLINE struct gw_flow_place gw_flow_place_in_family(
	const struct gw_flow_key *key, uint8_t family, uint64_t seed, uint32_t buckets)
{
	const struct gw_flow_secrets secrets = gw_flow_secrets(seed);
	uint64_t rest = GW_WIRE_LOAD(uint64_t, &key->source_port), sum;

	if (family == GW_IPV4) {
		sum = gw_flow_sum_ipv4(GW_WIRE_LOAD(uint32_t, key->source.bytes + 12),
			GW_WIRE_LOAD(uint32_t, key->destination.bytes + 12), rest, &secrets);
	} else {
		const uint64_t source[2] = {GW_WIRE_LOAD(uint64_t, key->source.bytes),
			GW_WIRE_LOAD(uint64_t, key->source.bytes + 8)};
		const uint64_t destination[2] = {GW_WIRE_LOAD(uint64_t, key->destination.bytes),
			GW_WIRE_LOAD(uint64_t, key->destination.bytes + 8)};

		sum = gw_flow_sum_ipv6(source, destination, rest, &secrets);
	}
	return gw_flow_place_of_sum(sum, key->protocol, buckets);
}

GW_INLINE struct gw_flow_place gw_flow_place(
	const struct gw_flow_key *key, uint64_t seed, uint32_t buckets)
{
	uint8_t family = gw_address_is_ipv4(&key->destination) ? GW_IPV4 : GW_IPV6;

	return gw_flow_place_in_family(key, family, seed, buckets);
}
