/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Keys become 64 bits here. XXH3 and XXH64 are xxHash's, compiled in; MD5 is libcrypto's;
 * MurmurHash3 (Appleby, the x64 variant of 128 bits) and SipHash-2-4 (Aumasson and Bernstein, 2012)
 * are short and written out, because libcrypto's MAC interface costs more than the hash itself.
 */
#include "chash/hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <endian.h>
#include <openssl/evp.h>
#include <pthread.h>
#include <string.h>

static inline uint64_t load64(const void *bytes)
{
	uint64_t word;

	memcpy(&word, bytes, sizeof(word));
	return le64toh(word);
}

/* Up to 8 bytes, least significant first, zeros above. */
static inline uint64_t load_rest(const uint8_t *bytes, size_t count)
{
	uint64_t word = 0;

	memcpy(&word, bytes, count);
	return le64toh(word);
}

static inline uint64_t rotate(uint64_t x, unsigned int by)
{
	return x << by | x >> (64 - by);
}

uint64_t hash_xxh3(const void *key, size_t length, uint64_t seed)
{
	return XXH3_64bits_withSeed(key, length, seed);
}

uint64_t hash_xxh64(const void *key, size_t length, uint64_t seed)
{
	return XXH64(key, length, seed);
}

/* ---- MurmurHash3 ------------------------------------------------------------------------- */

#define MURMUR_1 0x87c37b91114253d5ull
#define MURMUR_2 0x4cf5ad432745937full

static inline uint64_t murmur_final(uint64_t x)
{
	x = (x ^ x >> 33) * 0xff51afd7ed558ccdull;
	x = (x ^ x >> 33) * 0xc4ceb9fe1a85ec53ull;
	return x ^ x >> 33;
}

/* The reference takes a seed of 32 bits; ours has 64, equal where the upper half is zero. */
static uint64_t hash_murmur3(const void *key, size_t length, uint64_t seed)
{
	const uint8_t *bytes = key;
	uint64_t low = seed, high = seed;
	size_t whole = length & ~(size_t)15, rest = length & 15;

	for (size_t i = 0; i < whole; i += 16) {
		low ^= rotate(load64(bytes + i) * MURMUR_1, 31) * MURMUR_2;
		low = (rotate(low, 27) + high) * 5 + 0x52dce729;
		high ^= rotate(load64(bytes + i + 8) * MURMUR_2, 33) * MURMUR_1;
		high = (rotate(high, 31) + low) * 5 + 0x38495ab5;
	}
	if (rest > 8)
		high ^= rotate(load_rest(bytes + whole + 8, rest - 8) * MURMUR_2, 33) * MURMUR_1;
	if (rest)
		low ^= rotate(load_rest(bytes + whole, rest < 8 ? rest : 8) * MURMUR_1, 31) *
		       MURMUR_2;
	low ^= length;
	high ^= length;
	low += high;
	high += low;
	return murmur_final(low) + murmur_final(high);
}

/* ---- SipHash-2-4 ------------------------------------------------------------------------- */

static inline void sip_rounds(uint64_t v[4], int count)
{
	while (count--) {
		v[0] += v[1];
		v[1] = rotate(v[1], 13) ^ v[0];
		v[0] = rotate(v[0], 32);
		v[2] += v[3];
		v[3] = rotate(v[3], 16) ^ v[2];
		v[0] += v[3];
		v[3] = rotate(v[3], 21) ^ v[0];
		v[2] += v[1];
		v[1] = rotate(v[1], 17) ^ v[2];
		v[2] = rotate(v[2], 32);
	}
}

uint64_t hash_siphash(const void *key, size_t length, uint64_t seed)
{
	const uint8_t *bytes = key;
	size_t whole = length & ~(size_t)7;
	uint64_t last = load_rest(bytes + whole, length & 7) | (uint64_t)length << 56;
	uint64_t v[4] = {seed ^ 0x736f6d6570736575ull, 0x646f72616e646f6dull,
		seed ^ 0x6c7967656e657261ull, 0x7465646279746573ull};

	for (size_t i = 0; i < whole; i += 8) {
		uint64_t word = load64(bytes + i);

		v[3] ^= word;
		sip_rounds(v, 2);
		v[0] ^= word;
	}
	v[3] ^= last;
	sip_rounds(v, 2);
	v[0] ^= last;
	v[2] ^= 0xff;
	sip_rounds(v, 4);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

/* ---- MD5 --------------------------------------------------------------------------------- */

static EVP_MD *md5;
static pthread_once_t md5_once = PTHREAD_ONCE_INIT;

/* Fetched once: looking it up costs more than a digest. A machine in FIPS mode has none. */
static void md5_fetch(void)
{
	md5 = EVP_MD_fetch(NULL, "MD5", NULL);
}

int hash_md5_digest(const void *key, size_t length, uint8_t digest[16])
{
	pthread_once(&md5_once, md5_fetch);
	if (!md5 || EVP_Digest(key, length, digest, NULL, md5, NULL) != 1)
		return GW_CHASH_ERR_UNSUPPORTED;
	return 0;
}

/* A seed, if there is one, goes in front of the key, least significant byte first. */
uint64_t hash_md5(const void *key, size_t length, uint64_t seed)
{
	uint8_t digest[16] = {0};
	uint64_t first;

	if (!seed) {
		hash_md5_digest(key, length, digest);
	} else {
		EVP_MD_CTX *context = EVP_MD_CTX_new();
		uint64_t salt = htole64(seed);

		pthread_once(&md5_once, md5_fetch);
		if (context && EVP_DigestInit_ex2(context, md5, NULL) == 1 &&
			EVP_DigestUpdate(context, &salt, sizeof(salt)) == 1 &&
			EVP_DigestUpdate(context, key, length) == 1)
			EVP_DigestFinal_ex(context, digest, NULL);
		EVP_MD_CTX_free(context);
	}
	memcpy(&first, digest, sizeof(first));
	return be64toh(first);
}

/* ---- by name ----------------------------------------------------------------------------- */

static const struct {
	const char *name;
	uint64_t (*run)(const void *key, size_t length, uint64_t seed);
} hashes[GW_CHASH_HASHES] = {
	[GW_CHASH_XXH3] = {"xxh3", hash_xxh3},
	[GW_CHASH_XXH64] = {"xxh64", hash_xxh64},
	[GW_CHASH_MURMUR3] = {"murmur3", hash_murmur3},
	[GW_CHASH_MD5] = {"md5", hash_md5},
	[GW_CHASH_SIPHASH] = {"siphash", hash_siphash},
};

uint64_t (*hash_of(enum gw_chash_hash hash))(const void *key, size_t length, uint64_t seed)
{
	uint8_t digest[16];

	if ((unsigned int)hash >= GW_CHASH_HASHES)
		return NULL;
	if (hash == GW_CHASH_MD5 && hash_md5_digest("", 0, digest) < 0)
		return NULL;
	return hashes[hash].run;
}

const char *gw_chash_hash_name(enum gw_chash_hash hash)
{
	return (unsigned int)hash < GW_CHASH_HASHES ? hashes[hash].name : NULL;
}

int gw_chash_hash_parse(const char *name, enum gw_chash_hash *hash)
{
	for (int i = 0; name && hash && i < GW_CHASH_HASHES; i++) {
		if (strcmp(name, hashes[i].name))
			continue;
		*hash = (enum gw_chash_hash)i;
		return 0;
	}
	return GW_CHASH_ERR_ARGUMENT;
}

int gw_chash_hash_key(
	enum gw_chash_hash hash, uint64_t seed, const void *key, size_t length, uint64_t *value)
{
	uint64_t (*run)(const void *, size_t, uint64_t) = hash_of(hash);

	if (!run || (!key && length) || !value)
		return GW_CHASH_ERR_ARGUMENT;
	*value = run(key ? key : "", length, seed);
	return 0;
}
