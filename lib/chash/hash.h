/* SPDX-License-Identifier: BSD-2-Clause */
/* The hash functions keys and ids go through, and the mixer of the integer algorithms. Internal. */
#pragma once

#include "chash/chash.h"

#include <stddef.h>
#include <stdint.h>

/* NULL for a number that names none, or when libcrypto offers no MD5 here. */
uint64_t (*hash_of(enum gw_chash_hash hash))(const void *key, size_t length, uint64_t seed);

uint64_t hash_siphash(const void *key, size_t length, uint64_t seed);
uint64_t hash_md5(const void *key, size_t length, uint64_t seed);
/* The whole digest, 16 bytes. Returns 0 or GW_CHASH_ERR_UNSUPPORTED. */
int hash_md5_digest(const void *key, size_t length, uint8_t digest[16]);
/* XXH3, 64 bits, and XXH64. */
uint64_t hash_xxh3(const void *key, size_t length, uint64_t seed);
uint64_t hash_xxh64(const void *key, size_t length, uint64_t seed);

/* A bijection of 64 bits that leaves no pattern: multiply and fold, twice. */
static inline uint64_t hash_mix(uint64_t x)
{
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93ull;
	x ^= x >> 29;
	x *= 0x9e3779b97f4a7c15ull;
	return x ^ x >> 32;
}

/* The hash of a pair (key, number): one of a family of functions of the key. */
static inline uint64_t hash_pair(uint64_t key, uint64_t number)
{
	return hash_mix(key + (number + 1) * 0x9e3779b97f4a7c15ull);
}

/* 0 ... below-1 from the upper 32 bits of a hash, without a division. */
static inline uint32_t hash_reduce(uint64_t hash, uint32_t below)
{
	return (uint32_t)((hash >> 32) * below >> 32);
}
