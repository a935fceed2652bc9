/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A flow's two hashes from its key as words in registers: what is known of them (most of an IPv4
 * address) folds away. tests/unit/dp_common.c holds both against those of lib/abi, bit for bit.
 *
 * gw_key_hash, which chooses the slot, is XXH3_64bits_withSeed of the key (abi/key.h), for a worker
 * that hashes with the same seed all day. For 40 bytes XXH3 is four multiplications of two words of
 * input each, every word XORed with one of the secret plus or minus the seed (xxHash's
 * specification, "XXH3 for inputs of 17 to 128 bytes"). Those eight sums are made once.
 *
 * gw_key_sum, which says where the flow lives, is abi/flow_place.h's.
 */
#pragma once

#include "abi/flow_place.h"

#include <rte_common.h>

/* The key as five words in the machine's order, which must be little-endian. */
#define GW_KEY_WORDS	5
#define GW_KEY_IN_WORDS (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)

/* The secret's first eight words, with one seed mixed in. */
struct gw_key_seed {
	uint64_t seed;
	uint64_t word[8];
};

static inline void gw_key_seed_set(struct gw_key_seed *out, uint64_t seed)
{
	static const uint64_t secret[8] = {0xbe4ba423396cfeb8, 0x1cad21f72c81017c,
		0xdb979083e96dd4de, 0x1f67b3b7a4a44072, 0x78e5c0cc4ee679cb, 0x2172ffcc7dd05a82,
		0x8e2443f7744608b8, 0x4c263a81e69035e0};

	out->seed = seed;
	for (int i = 0; i < 8; i += 2) {
		out->word[i] = secret[i] + seed;
		out->word[i + 1] = secret[i + 1] - seed;
	}
}

/* Both halves of the product, XORed. */
static __rte_always_inline uint64_t gw_key_product(uint64_t first, uint64_t second)
{
	unsigned __int128 product = (unsigned __int128)first * second;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static __rte_always_inline uint64_t gw_key_mix(
	const uint64_t secret[2], uint64_t first, uint64_t second)
{
	return gw_key_product(first ^ secret[0], second ^ secret[1]);
}

/*
 * h plus both halves of the product, XORed. On x86-64 in assembly, for compilers take the halves of
 * a 128-bit product to registers of their own and the stack: a third more instructions for a hash.
 */
static __rte_always_inline uint64_t gw_key_add(uint64_t h, uint64_t first, uint64_t second)
{
#ifdef __x86_64__
	__asm__("mulq %2\n\txorq %%rdx, %1\n\taddq %1, %0"
		: "+&r"(h), "+&a"(first)
		: "r"(second)
		: "rdx", "cc");
	return h;
#else
	return h + gw_key_product(first, second);
#endif
}

/* The same with a word that lies in memory and is not wanted in a register. */
static __rte_always_inline uint64_t gw_key_add_from(
	uint64_t h, uint64_t first, const uint64_t *second)
{
#ifdef __x86_64__
	__asm__("mulq %2\n\txorq %%rdx, %1\n\taddq %1, %0"
		: "+&r"(h), "+&a"(first)
		: "m"(*second)
		: "rdx", "cc");
	return h;
#else
	return h + gw_key_product(first, *second);
#endif
}

/*
 * The hash's last step. It leaves the upper half as it is, so that who wants bits of that half
 * alone may do without; done a second time it takes itself back.
 */
static __rte_always_inline uint64_t gw_key_hash_close(uint64_t open)
{
	return open ^ open >> 32;
}

/* The hash before its last step, of a key of that family: two words of an IPv4 key are 0. */
static __rte_always_inline uint64_t gw_key_hash_open(
	const struct gw_key_seed *seed, uint8_t family, const uint64_t key[GW_KEY_WORDS])
{
	const uint64_t *secret = seed->word;
	uint64_t h = sizeof(struct gw_flow_key) * 0x9e3779b185ebca87;

	if (family == GW_IPV4) {
		h = gw_key_add_from(h, key[1] ^ secret[1], &secret[0]);
		h = gw_key_add_from(h, key[1] ^ secret[6], &secret[7]);
		h = gw_key_add_from(h, key[3] ^ secret[5], &secret[4]);
	} else {
		h = gw_key_add(h, key[0] ^ secret[0], key[1] ^ secret[1]);
		h = gw_key_add(h, key[1] ^ secret[6], key[2] ^ secret[7]);
		h = gw_key_add(h, key[2] ^ secret[4], key[3] ^ secret[5]);
	}
	h = gw_key_add(h, key[3] ^ secret[2], key[4] ^ secret[3]);
	h ^= h >> 37;
	return h * 0x165667919e3779f9;
}

/* XXH3_64bits_withSeed(key, 40, seed->seed). */
static __rte_always_inline uint64_t gw_key_hash(
	const struct gw_key_seed *seed, const uint64_t key[GW_KEY_WORDS])
{
	return gw_key_hash_close(gw_key_hash_open(seed, GW_IPV6, key));
}

/* The sum that says where the flow lives (gw_flow_place_of_sum), of a key of that family. */
static __rte_always_inline uint64_t gw_key_sum(
	const struct gw_flow_secrets *secrets, uint8_t family, const uint64_t key[GW_KEY_WORDS])
{
	if (family == GW_IPV4)
		return gw_flow_sum_ipv4(
			(uint32_t)(key[1] >> 32), (uint32_t)(key[3] >> 32), key[4], secrets);
	return gw_flow_sum_ipv6(&key[0], &key[2], key[4], secrets);
}
