/* SPDX-License-Identifier: BSD-2-Clause */
/* The two hashes of a flow (abi/key.h, abi/flow_place.h). */
#include "abi/flow_place.h"

#include "suite.h"

#include <string.h>

#define BUCKETS 4096u
#define FLOWS	(4 * BUCKETS) /* half of the words, as in a table of the size that was asked for */

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static void the_narrow_hash_is_xxh3(void)
{
	uint64_t state = 88172645463325252ull;

	for (int i = 0; i < 20000; i++) {
		uint64_t seed = i % 2 ? next_random(&state) : 0;
		union {
			uint64_t word[5];
			struct gw_flow_key key;
		} in;

		for (int k = 0; k < 5; k++)
			in.word[k] = i % 7 == k ? ~0ull : next_random(&state);
		CU_ASSERT_EQUAL_FATAL(gw_flow_hash_narrow(&in.key, seed),
			XXH3_64bits_withSeed(&in.key, sizeof(in.key), seed));
	}
}

/* Keys that differ as those of clients do: by address, by port, by service. */
static struct gw_flow_key key_of(uint32_t kind, uint32_t n)
{
	struct gw_flow_key key = {.destination_port = GW_HTONS(443), .protocol = GW_PROTO_TCP};
	uint32_t source = GW_HTONL(0xc6120001), destination = GW_HTONL(0xcb00710a);
	uint32_t number = GW_HTONL(n);

	if (kind == 0)
		source = GW_HTONL(0xc6120000 + n);
	if (kind == 2)
		destination = GW_HTONL(0xcb000000 + n);
	key.source_port = GW_HTONS((uint16_t)(1024 + (kind == 1 ? n : 0)));
	if (kind == 1)
		source = GW_HTONL(0xc6120000 + n / 60000);
	gw_address_set_ipv4(&key.source, &source);
	gw_address_set_ipv4(&key.destination, &destination);
	if (kind >= 3) {
		memcpy(key.source.bytes, (const uint8_t[4]){0x20, 0x01, 0x0d, 0xb8}, 4);
		memcpy(key.destination.bytes, key.source.bytes, 16);
		memcpy(kind == 3 ? key.source.bytes + 4 : key.source.bytes + 12, &number, 4);
	}
	return key;
}

/*
 * Flows that are thrown into buckets at random, four to a bucket in the mean, leave 2.1 % of them
 * with over eight (Poisson: P(more than 8 | 4) = 0.0214), and hardly any with over 18.
 */
static void keys_of_each_kind_spread_as_at_random(void)
{
	static uint8_t count[BUCKETS];
	uint64_t seed = 0x9e3779b97f4a7c15ull;

	for (uint32_t kind = 0; kind < 5; kind++)
		for (int draw = 0; draw < 8; draw++) {
			uint32_t full = 0, most = 0;

			next_random(&seed);
			memset(count, 0, sizeof(count));
			for (uint32_t n = 0; n < FLOWS; n++) {
				struct gw_flow_key key = key_of(kind, n);

				count[gw_flow_place(&key, seed, BUCKETS).bucket]++;
			}
			for (uint32_t i = 0; i < BUCKETS; i++) {
				full += count[i] > GW_FLOW_BUCKET_WORDS;
				most = count[i] > most ? count[i] : most;
			}
			CU_ASSERT(full > 40 && full < 150); /* 87 expected, deviation 9 */
			CU_ASSERT(most <= 18);
		}
}

/* Of 4096 flows in 16 buckets, no two may have the same tag: 27 random bits, 256 in each bucket. */
static void flows_of_one_bucket_have_different_tags(void)
{
	static uint32_t tag[16][FLOWS];
	uint32_t count[16] = {0}, same = 0;

	for (uint32_t n = 0; n < 4096; n++) {
		struct gw_flow_key key = key_of(n % 5, n);
		struct gw_flow_place place = gw_flow_place(&key, 0x1234567890abcdefull, 16);

		for (uint32_t i = 0; i < count[place.bucket]; i++)
			same += tag[place.bucket][i] == place.tag;
		tag[place.bucket][count[place.bucket]++] = place.tag;
		CU_ASSERT_EQUAL(place.tag & 3, GW_CLASS_TCP);
		CU_ASSERT_EQUAL(place.tag >> 2 & 1, place.bucket & 1);
	}
	CU_ASSERT(same <= 1);
}

static const struct gw_test tests[] = {
	GW_TEST(the_narrow_hash_is_xxh3),
	GW_TEST(keys_of_each_kind_spread_as_at_random),
	GW_TEST(flows_of_one_bucket_have_different_tags),
};

GW_SUITE("flow_place", tests)
