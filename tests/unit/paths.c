/* SPDX-License-Identifier: BSD-2-Clause */
/* How the buckets of a multipath next hop are shared, lent and given back. */
#include "base/paths.h"

#include "suite.h"

#include <string.h>

static struct gw_paths live[GW_MAX_PATHS];
static struct gw_path_table *table;

static void begin(void)
{
	gw_path_table_free(table);
	memset(live, 0, sizeof(live));
	table = gw_path_table_new(live);
	CU_ASSERT_PTR_NOT_NULL_FATAL(table);
}

/* Way n is by gateway n, whose MAC ends in n. */
static struct gw_way way(uint8_t n, uint16_t weight)
{
	return (struct gw_way){.gateway = {[15] = n}, .ifindex = 7, .weight = weight};
}

static struct gw_link link_to(uint8_t n)
{
	return (struct gw_link){.destination_mac = {2, 0, 0, 0, 0, n}, .flags = GW_LINK_RESOLVED};
}

/* Ways by number, weights beside them; a zero byte in `up` makes one unusable. */
static uint32_t take(uint32_t before, uint32_t count, const uint8_t *numbers,
	const uint16_t *weights, const bool *up)
{
	struct gw_way ways[GW_WAYS_MAX];
	struct gw_link links[GW_WAYS_MAX];

	for (uint32_t i = 0; i < count; i++) {
		ways[i] = way(numbers[i], weights ? weights[i] : 1);
		links[i] = !up || up[i] ? link_to(numbers[i]) : (struct gw_link){};
	}
	return gw_path_table_take(table, before, ways, count, links, 0);
}

static uint32_t buckets(uint32_t record, uint8_t n)
{
	uint32_t count = 0;

	for (int b = 0; b < GW_PATH_BUCKETS; b++)
		count += live[record].link[b].flags && live[record].link[b].destination_mac[5] == n;
	return count;
}

/* Buckets that a and b agree on, counting only those that lead to way n in a; 0: any. */
static uint32_t kept(const struct gw_paths *a, const struct gw_paths *b, uint8_t n)
{
	uint32_t count = 0;

	for (int i = 0; i < GW_PATH_BUCKETS; i++)
		if (!n || a->link[i].destination_mac[5] == n)
			count += !memcmp(&a->link[i], &b->link[i], sizeof(a->link[i]));
	return count;
}

static void equal_ways_share_evenly(void)
{
	uint32_t record;

	begin();
	record = take(GW_NONE, 2, (uint8_t[]){1, 2}, NULL, NULL);
	CU_ASSERT_EQUAL(buckets(record, 1), 8);
	CU_ASSERT_EQUAL(buckets(record, 2), 8);
}

static void weights_give_shares_and_nobody_goes_without(void)
{
	uint32_t record;

	begin();
	record = take(GW_NONE, 2, (uint8_t[]){1, 2}, (uint16_t[]){3, 1}, NULL);
	CU_ASSERT_EQUAL(buckets(record, 1), 12);
	CU_ASSERT_EQUAL(buckets(record, 2), 4);
	record = take(GW_NONE, 3, (uint8_t[]){1, 2, 3}, (uint16_t[]){256, 256, 1}, NULL);
	CU_ASSERT_EQUAL(buckets(record, 3), 1);
	CU_ASSERT_TRUE(buckets(record, 1) + buckets(record, 2) == 15);
}

static void a_dead_ways_buckets_are_lent_and_come_back(void)
{
	uint32_t record, again;
	struct gw_paths before;

	begin();
	record = take(GW_NONE, 3, (uint8_t[]){1, 2, 3}, NULL, NULL);
	before = live[record];
	again = take(record, 3, (uint8_t[]){1, 2, 3}, NULL, (bool[]){true, false, true});
	CU_ASSERT_EQUAL(again, record);
	CU_ASSERT_EQUAL(buckets(record, 2), 0);
	CU_ASSERT_EQUAL(buckets(record, 1) + buckets(record, 3), 16);
	CU_ASSERT_EQUAL(buckets(record, 1), 8); /* lent evenly */
	CU_ASSERT_EQUAL(kept(&before, &live[record], 1), 6);
	CU_ASSERT_EQUAL(kept(&before, &live[record], 3), 5);
	take(record, 3, (uint8_t[]){1, 2, 3}, NULL, NULL);
	CU_ASSERT_EQUAL(kept(&before, &live[record], 0), 16);
}

static void without_any_way_nothing_is_resolved(void)
{
	uint32_t record;

	begin();
	record = take(GW_NONE, 2, (uint8_t[]){1, 2}, NULL, NULL);
	take(record, 2, (uint8_t[]){1, 2}, NULL, (bool[]){false, false});
	for (int b = 0; b < GW_PATH_BUCKETS; b++)
		CU_ASSERT_EQUAL(live[record].link[b].flags, 0);
	take(record, 2, (uint8_t[]){1, 2}, NULL, (bool[]){false, true});
	CU_ASSERT_EQUAL(buckets(record, 2), 16);
}

static void a_way_that_joins_takes_only_its_share(void)
{
	uint32_t record, wider;

	begin();
	record = take(GW_NONE, 2, (uint8_t[]){1, 2}, NULL, NULL);
	wider = take(record, 3, (uint8_t[]){1, 2, 3}, NULL, NULL);
	CU_ASSERT_NOT_EQUAL(wider, record);
	CU_ASSERT_EQUAL(buckets(wider, 3), 5);
	CU_ASSERT_EQUAL(kept(&live[record], &live[wider], 0), 11);
}

static void a_way_that_leaves_moves_only_its_own(void)
{
	uint32_t record, narrower;

	begin();
	record = take(GW_NONE, 3, (uint8_t[]){1, 2, 3}, NULL, NULL);
	narrower = take(record, 2, (uint8_t[]){3, 1}, NULL, NULL);
	CU_ASSERT_EQUAL(buckets(narrower, 2), 0);
	CU_ASSERT_EQUAL(kept(&live[record], &live[narrower], 1), 6);
	CU_ASSERT_EQUAL(kept(&live[record], &live[narrower], 3), 5);
}

static void the_same_ways_share_a_record(void)
{
	uint32_t first, second, other;

	begin();
	first = take(GW_NONE, 2, (uint8_t[]){1, 2}, NULL, NULL);
	second = take(GW_NONE, 2, (uint8_t[]){1, 2}, NULL, NULL);
	other = take(GW_NONE, 2, (uint8_t[]){1, 2}, (uint16_t[]){1, 2}, NULL);
	CU_ASSERT_EQUAL(first, second);
	CU_ASSERT_NOT_EQUAL(first, other);
	gw_path_table_drop(table, first);
	CU_ASSERT_NOT_EQUAL(take(GW_NONE, 2, (uint8_t[]){3, 4}, NULL, NULL), first);
}

static void a_dropped_record_is_used_again_last(void)
{
	uint32_t record, last = GW_NONE;

	begin();
	record = take(GW_NONE, 2, (uint8_t[]){1, 2}, NULL, NULL);
	gw_path_table_drop(table, record);
	for (uint32_t i = 1; i < GW_MAX_PATHS; i++)
		CU_ASSERT_NOT_EQUAL(take(GW_NONE, 2, (uint8_t[]){1, 2},
					    (uint16_t[]){1, (uint16_t)(i + 1)}, NULL),
			record);
	last = take(GW_NONE, 2, (uint8_t[]){9, 8}, NULL, NULL);
	CU_ASSERT_EQUAL(last, record);
	CU_ASSERT_EQUAL(take(GW_NONE, 2, (uint8_t[]){9, 7}, NULL, NULL), GW_NONE);
}

static void a_record_of_an_earlier_process_goes_on_as_it_was(void)
{
	struct gw_paths before;

	begin();
	for (int b = 0; b < GW_PATH_BUCKETS; b++) /* nothing like what would be made anew */
		live[0].link[b] = link_to(b < 8 ? 2 : 1);
	before = live[0];
	gw_path_table_reserve(table, 0);
	CU_ASSERT_NOT_EQUAL(take(GW_NONE, 2, (uint8_t[]){3, 4}, NULL, NULL), 0);
	CU_ASSERT_EQUAL(kept(&before, &live[0], 0), 16);
	CU_ASSERT_EQUAL(take(0, 2, (uint8_t[]){1, 2}, NULL, NULL), 0);
	CU_ASSERT_EQUAL(kept(&before, &live[0], 0), 16);
}

static const struct gw_test tests[] = {
	GW_TEST(equal_ways_share_evenly),
	GW_TEST(weights_give_shares_and_nobody_goes_without),
	GW_TEST(a_dead_ways_buckets_are_lent_and_come_back),
	GW_TEST(without_any_way_nothing_is_resolved),
	GW_TEST(a_way_that_joins_takes_only_its_share),
	GW_TEST(a_way_that_leaves_moves_only_its_own),
	GW_TEST(the_same_ways_share_a_record),
	GW_TEST(a_dropped_record_is_used_again_last),
	GW_TEST(a_record_of_an_earlier_process_goes_on_as_it_was),
};

int main(int argc, char **argv)
{
	int result = gw_suite_run("paths", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);

	gw_path_table_free(table);
	return result;
}
