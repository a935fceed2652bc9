/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Maglev tables: Envoy's public vectors, the paper's example, and equality of the fast fill with
 * the plain loop.
 */
#include "chash/chash.h"
#include "chash/maglev_fill.h"
#include "chash/prime.h"
#include "tests/unit/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void table_expect(const struct gw_chash_table_member *members, uint32_t count, uint64_t size,
	const uint16_t *slots)
{
	struct gw_chash_table *table = NULL;

	CU_ASSERT_EQUAL_FATAL(gw_chash_table_build(members, count, size, &table), 0);
	CU_ASSERT_EQUAL(table->size, size);
	CU_ASSERT_EQUAL(table->count, count);
	CU_ASSERT_PTR_NOT_NULL_FATAL(table->u16);
	CU_ASSERT_EQUAL(memcmp(table->u16, slots, size * sizeof(*slots)), 0);
	gw_chash_table_free(table);
}

static void table_equals_envoys_for_six_addresses(void)
{
	static const struct gw_chash_table_member members[] = {{"127.0.0.1:90", 1},
		{"127.0.0.1:91", 1}, {"127.0.0.1:92", 1}, {"127.0.0.1:93", 1}, {"127.0.0.1:94", 1},
		{"127.0.0.1:95", 1}};

	table_expect(members, COUNT(members), 7, (uint16_t[]){2, 4, 0, 1, 5, 0, 3});
}

static void offset_and_skip_equal_envoys(void)
{
	static const uint32_t expected[][2] = {{2, 4}, {3, 6}, {0, 2}, {3, 3}, {1, 3}, {1, 5}};

	for (unsigned int i = 0; i < COUNT(expected); i++) {
		struct maglev_turn turn;
		char key[32];
		int length = snprintf(key, sizeof(key), "127.0.0.1:%u", 90 + i);

		maglev_turn_init(&turn, key, (size_t)length, 7);
		CU_ASSERT_EQUAL(turn.at, expected[i][0]);
		CU_ASSERT_EQUAL(turn.skip, expected[i][1]);
	}
}

static void table_equals_envoys_for_six_hostnames(void)
{
	static const struct gw_chash_table_member members[] = {
		{"90", 1}, {"91", 1}, {"92", 1}, {"93", 1}, {"94", 1}, {"95", 1}};

	table_expect(members, COUNT(members), 7, (uint16_t[]){2, 5, 0, 3, 4, 1, 0});
}

static void table_equals_envoys_with_weights_one_and_two(void)
{
	static const struct gw_chash_table_member members[] = {
		{"127.0.0.1:90", 1}, {"127.0.0.1:91", 2}};

	table_expect(members, COUNT(members), 17,
		(uint16_t[]){1, 0, 0, 1, 0, 1, 1, 0, 1, 1, 1, 1, 1, 0, 1, 0, 1});
}

static void fill_equals_the_papers_example(void)
{
	struct maglev_turn all[] = {{3, 4, 0, 1}, {0, 2, 1, 1}, {3, 1, 2, 1}};
	struct maglev_turn some[] = {{3, 4, 0, 1}, {3, 1, 2, 1}};
	uint16_t slots[7];
	struct maglev_slots out = {slots, NULL, 7};

	CU_ASSERT_EQUAL(maglev_fill(all, 3, &out), 0);
	CU_ASSERT_EQUAL(memcmp(slots, (uint16_t[]){1, 0, 1, 0, 2, 2, 0}, sizeof(slots)), 0);
	CU_ASSERT_EQUAL(maglev_fill(some, 2, &out), 0);
	CU_ASSERT_EQUAL(memcmp(slots, (uint16_t[]){0, 0, 0, 0, 2, 2, 2}, sizeof(slots)), 0);
}

/* ---- many members ------------------------------------------------------------------------ */

struct crowd {
	struct gw_chash_table_member *members;
	char (*keys)[24];
	uint32_t count;
};

static struct crowd crowd_make(uint32_t count)
{
	struct crowd crowd = {
		calloc(count, sizeof(*crowd.members)), calloc(count, sizeof(*crowd.keys)), count};

	for (uint32_t i = 0; i < count; i++) {
		snprintf(crowd.keys[i], sizeof(crowd.keys[i]), "10.%u.%u.%u:80", i >> 16,
			i >> 8 & 255, i & 255);
		crowd.members[i] = (struct gw_chash_table_member){crowd.keys[i], 1};
	}
	return crowd;
}

static void crowd_free(struct crowd *crowd)
{
	free(crowd->members);
	free(crowd->keys);
}

static uint64_t dice = 88172645463325252ull;
static uint32_t roll(uint32_t below)
{
	dice ^= dice << 13;
	dice ^= dice >> 7;
	dice ^= dice << 17;
	return (uint32_t)((dice >> 32) % below);
}

static void equal_weights_give_slot_counts_that_differ_by_one_at_most(void)
{
	static const uint32_t sizes[] = {7, 101, 1009, 65537, 655373};
	static const uint32_t counts[] = {1, 2, 6, 100, 1000};

	for (unsigned int s = 0; s < COUNT(sizes); s++) {
		for (unsigned int c = 0; c < COUNT(counts) && counts[c] <= sizes[s]; c++) {
			struct crowd crowd = crowd_make(counts[c]);
			struct gw_chash_table *table = NULL;
			uint32_t *held = calloc(counts[c], sizeof(*held));

			CU_ASSERT_EQUAL_FATAL(
				gw_chash_table_build(crowd.members, crowd.count, sizes[s], &table),
				0);
			for (uint32_t i = 0; i < sizes[s]; i++)
				held[table->u16[i]]++;
			for (uint32_t i = 0; i < counts[c]; i++) {
				CU_ASSERT(held[i] >= sizes[s] / counts[c]);
				CU_ASSERT(held[i] <= sizes[s] / counts[c] + 1);
			}
			gw_chash_table_free(table);
			free(held);
			crowd_free(&crowd);
		}
	}
}

/* Both fills, from the same turns, must agree in each slot. */
static void fills_compare(const struct crowd *crowd, uint32_t size)
{
	struct maglev_turn *turns = calloc(crowd->count, 2 * sizeof(*turns));
	uint32_t *slots = calloc(size, 2 * sizeof(*slots));
	uint32_t used = 0;

	for (uint32_t i = 0; i < crowd->count; i++) {
		const struct gw_chash_table_member *member = &crowd->members[i];

		if (!member->weight)
			continue;
		maglev_turn_init(&turns[used], member->key, strlen(member->key), size);
		turns[used].member = i;
		turns[used++].weight = member->weight;
	}
	memcpy(turns + crowd->count, turns, used * sizeof(*turns));
	CU_ASSERT_EQUAL(maglev_fill(turns, used, &(struct maglev_slots){NULL, slots, size}), 0);
	CU_ASSERT_EQUAL(maglev_fill_plainly(turns + crowd->count, used,
				&(struct maglev_slots){NULL, slots + size, size}),
		0);
	CU_ASSERT_EQUAL(memcmp(slots, slots + size, size * sizeof(*slots)), 0);
	free(slots);
	free(turns);
}

static void fast_fill_equals_the_plain_loop_at_equal_weights(void)
{
	static const uint32_t sizes[] = {2, 3, 7, 13, 1009, 65537, 655373};

	for (unsigned int s = 0; s < COUNT(sizes); s++) {
		for (uint32_t count = 1; count <= 1000 && count <= sizes[s];
			count = count * 3 + 1) {
			struct crowd crowd = crowd_make(count);

			fills_compare(&crowd, sizes[s]);
			crowd_free(&crowd);
		}
	}
}

static void fast_fill_equals_the_plain_loop_at_random_weights(void)
{
	static const uint32_t sizes[] = {1009, 4099, 65537};
	static const uint32_t ranges[] = {2, 3, 10, 256, 100000};

	for (unsigned int s = 0; s < COUNT(sizes); s++) {
		for (unsigned int r = 0; r < COUNT(ranges); r++) {
			struct crowd crowd = crowd_make(1 + roll(500));

			for (uint32_t i = 0; i < crowd.count; i++)
				crowd.members[i].weight = 1 + roll(ranges[r]);
			fills_compare(&crowd, sizes[s]);
			crowd_free(&crowd);
		}
	}
}

static void fast_fill_equals_the_plain_loop_at_extreme_weights(void)
{
	static const uint32_t heavy[] = {1000, 1000000, 4000000};

	for (unsigned int h = 0; h < COUNT(heavy); h++) {
		for (uint32_t position = 0; position < 200; position += 99) {
			struct crowd crowd = crowd_make(200);

			crowd.members[position].weight = heavy[h];
			crowd.members[(position + 7) % 200].weight = heavy[h] / 3;
			fills_compare(&crowd, 65537);
			crowd_free(&crowd);
		}
	}
}

static void order_of_members_does_not_matter(void)
{
	struct crowd crowd = crowd_make(300);
	struct gw_chash_table *table = NULL, *again = NULL;

	for (uint32_t i = 0; i < crowd.count; i++)
		crowd.members[i].weight = roll(4);
	CU_ASSERT_EQUAL_FATAL(gw_chash_table_build(crowd.members, 300, 4099, &table), 0);
	for (uint32_t i = 299; i > 0; i--) {
		uint32_t other = roll(i + 1);
		struct gw_chash_table_member member = crowd.members[i];

		crowd.members[i] = crowd.members[other];
		crowd.members[other] = member;
	}
	CU_ASSERT_EQUAL_FATAL(gw_chash_table_build(crowd.members, 300, 4099, &again), 0);
	CU_ASSERT_EQUAL(memcmp(table->u16, again->u16, 4099 * sizeof(uint16_t)), 0);
	for (uint32_t i = 1; i < 300; i++)
		CU_ASSERT(strcmp(crowd.members[again->order[i - 1]].key,
				  crowd.members[again->order[i]].key) < 0);
	gw_chash_table_free(table);
	gw_chash_table_free(again);
	crowd_free(&crowd);
}

static void member_of_weight_zero_is_listed_and_owns_no_slot(void)
{
	static const struct gw_chash_table_member with[] = {{"a", 1}, {"b", 0}, {"c", 1}};
	static const struct gw_chash_table_member without[] = {{"a", 1}, {"c", 1}};
	struct gw_chash_table *table = NULL, *other = NULL;

	CU_ASSERT_EQUAL_FATAL(gw_chash_table_build(with, 3, 101, &table), 0);
	CU_ASSERT_EQUAL_FATAL(gw_chash_table_build(without, 2, 101, &other), 0);
	CU_ASSERT_EQUAL(table->count, 3);
	for (uint32_t i = 0; i < 101; i++)
		CU_ASSERT_EQUAL(table->u16[i], other->u16[i] * 2);
	gw_chash_table_free(table);
	gw_chash_table_free(other);
}

static void table_wider_than_sixteen_bits_holds_seventy_thousand_members(void)
{
	struct crowd crowd = crowd_make(70000);
	struct gw_chash_table *table = NULL;
	uint32_t last = 0;

	CU_ASSERT_EQUAL_FATAL(gw_chash_table_build(crowd.members, 70000, 655373, &table), 0);
	CU_ASSERT_PTR_NULL(table->u16);
	CU_ASSERT_PTR_NOT_NULL_FATAL(table->u32);
	for (uint32_t i = 0; i < table->size; i++)
		last = table->u32[i] > last ? table->u32[i] : last;
	CU_ASSERT_EQUAL(last, 69999);
	gw_chash_table_free(table);
	crowd_free(&crowd);
}

static void bad_input_has_an_error_of_its_own(void)
{
	static const struct gw_chash_table_member two[] = {{"a", 1}, {"b", 1}};
	static const struct gw_chash_table_member same[] = {{"a", 1}, {"b", 1}, {"a", 2}};
	static const struct gw_chash_table_member zero[] = {{"a", 0}, {"b", 0}};
	static const struct gw_chash_table_member vast[] = {{"a", 1u << 31}, {"b", 1u << 31}};
	static const struct gw_chash_table_member bare[] = {{"", 1}};
	static const struct gw_chash_table_member three[] = {{"a", 1}, {"b", 1}, {"c", 1}};
	static const uint64_t outside[] = {0, 1, 5000012, 5000021, 4294967303ull, UINT64_MAX};
	static const uint64_t composite[] = {4, 9, 65536, 1000001};
	struct gw_chash_table *table = NULL;

	for (unsigned int i = 0; i < COUNT(outside); i++)
		CU_ASSERT_EQUAL(
			gw_chash_table_build(two, 2, outside[i], &table), GW_CHASH_ERR_SIZE);
	for (unsigned int i = 0; i < COUNT(composite); i++)
		CU_ASSERT_EQUAL(
			gw_chash_table_build(two, 2, composite[i], &table), GW_CHASH_ERR_NOT_PRIME);
	CU_ASSERT_EQUAL(gw_chash_table_build(two, 0, 7, &table), GW_CHASH_ERR_EMPTY);
	CU_ASSERT_EQUAL(gw_chash_table_build(same, 3, 7, &table), GW_CHASH_ERR_DUPLICATE);
	CU_ASSERT_EQUAL(gw_chash_table_build(zero, 2, 7, &table), GW_CHASH_ERR_ALL_ZERO);
	CU_ASSERT_EQUAL(gw_chash_table_build(vast, 2, 7, &table), GW_CHASH_ERR_WEIGHT_SUM);
	CU_ASSERT_EQUAL(gw_chash_table_build(bare, 1, 7, &table), GW_CHASH_ERR_ID);
	CU_ASSERT_EQUAL(gw_chash_table_build(three, 3, 2, &table), GW_CHASH_ERR_SLOTS);
	CU_ASSERT_EQUAL(gw_chash_table_build(NULL, 3, 7, &table), GW_CHASH_ERR_ARGUMENT);
	CU_ASSERT_PTR_NULL(table);
}

static void table_of_the_largest_size_is_full(void)
{
	static const struct gw_chash_table_member members[] = {{"a", 4294967294u}, {"b", 1}};
	struct gw_chash_table *table = NULL;
	uint32_t rare = 0;

	CU_ASSERT_EQUAL_FATAL(gw_chash_table_build(members, 2, 5000011, &table), 0);
	for (uint32_t i = 0; i < table->size; i++)
		rare += table->u16[i];
	CU_ASSERT_EQUAL(rare, 1);
	gw_chash_table_free(table);
}

static void inverse_undoes_multiplication(void)
{
	static const uint32_t primes[] = {2, 3, 7, 65537, 5000011};

	for (unsigned int p = 0; p < COUNT(primes); p++)
		for (uint32_t i = 0; i < 200; i++) {
			uint32_t value = 1 + roll(primes[p] - 1);
			uint64_t product = (uint64_t)value * prime_inverse(value, primes[p]);

			CU_ASSERT_EQUAL(product % primes[p], 1);
		}
}

static const struct gw_test tests[] = {
	GW_TEST(table_equals_envoys_for_six_addresses),
	GW_TEST(offset_and_skip_equal_envoys),
	GW_TEST(table_equals_envoys_for_six_hostnames),
	GW_TEST(table_equals_envoys_with_weights_one_and_two),
	GW_TEST(fill_equals_the_papers_example),
	GW_TEST(equal_weights_give_slot_counts_that_differ_by_one_at_most),
	GW_TEST(fast_fill_equals_the_plain_loop_at_equal_weights),
	GW_TEST(fast_fill_equals_the_plain_loop_at_random_weights),
	GW_TEST(fast_fill_equals_the_plain_loop_at_extreme_weights),
	GW_TEST(order_of_members_does_not_matter),
	GW_TEST(member_of_weight_zero_is_listed_and_owns_no_slot),
	GW_TEST(table_wider_than_sixteen_bits_holds_seventy_thousand_members),
	GW_TEST(bad_input_has_an_error_of_its_own),
	GW_TEST(table_of_the_largest_size_is_full),
	GW_TEST(inverse_undoes_multiplication),
};

GW_SUITE("chash_maglev", tests)
