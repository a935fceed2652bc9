/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The choice of the backend as the XDP program makes it (bpf/lb_choose.h), on plain memory: 8
 * buckets, a few backends, a table that names what the test says. Another CPU's deeds in the middle
 * of a choice are done by the table's accessor.
 */
#include "bpf/lb_choose.h"
#include "suite.h"

#include <string.h>

#define BUCKETS 8
#define POOL	3

static struct gw_flow_bucket table[BUCKETS];
static struct gw_backend backends[8];
static const struct gw_flow_timeouts timeouts = {
	.seconds = {{0, 60, 60, 60}, {0, 10, 900, 60}, {0, 60, 60, 60}, {0, 300, 300, 60}}};
static uint32_t named;		/* the table's answer */
static void (*meanwhile)(void); /* what another CPU does while the table is asked */

static struct gw_flow_bucket *bucket_at(const void *path, uint32_t bucket)
{
	return &table[bucket & (BUCKETS - 1)];
}

static const struct gw_backend *backend_at(const void *path, uint32_t backend)
{
	return backend < 8 ? &backends[backend] : NULL;
}

static uint32_t table_at(const void *path, uint32_t pool, uint64_t hash, uint32_t *slot)
{
	CU_ASSERT_EQUAL(pool, POOL);
	*slot = (uint32_t)(hash % 7);
	if (meanwhile)
		meanwhile();
	return named;
}

static const struct gw_choose_ops ops = {bucket_at, backend_at, table_at};
static struct gw_choose in;
static struct gw_choice out;

/* An empty table, all backends active and of the pool, a flow of class TCP in bucket 2. */
static void reset(void)
{
	memset(table, 0, sizeof(table));
	for (int i = 0; i < 8; i++)
		backends[i] = (struct gw_backend){.pool = POOL, .state = GW_BACKEND_ACTIVE};
	named = 1;
	meanwhile = NULL;
	in = (struct gw_choose){.place = {.tag = 0xabcd0000u | GW_CLASS_TCP, .bucket = 2},
		.buckets = BUCKETS,
		.hash = 40,
		.pool = POOL,
		.now = 1000,
		.event = GW_FLOW_PACKET,
		.timeouts = &timeouts};
}

static int choose(void)
{
	out = (struct gw_choice){.backend = 77, .slot = 77, .flow = 77};
	return gw_choose(&in, &ops, NULL, &out);
}

static uint64_t word_of_flow(void)
{
	uint32_t index = gw_flow_find(&table[2], in.place.tag);

	return index < GW_FLOW_BUCKET_WORDS ? table[2].word[index] : 0;
}

static struct gw_flow_bucket *other_bucket(void)
{
	return &table[gw_flow_other_bucket(in.place.bucket, in.place.tag, BUCKETS)];
}

/* Another flow of the same two buckets. */
static void next_flow(void)
{
	const struct gw_flow_bucket *other = other_bucket();

	do
		in.place.tag += 8;
	while (other_bucket() != other);
}

static void fill(struct gw_flow_bucket *bucket, uint32_t state, uint32_t stamp)
{
	for (uint32_t i = 0; i < GW_FLOW_BUCKET_WORDS; i++)
		bucket->word[i] = gw_flow_word(0x10 * (i + 1) | GW_CLASS_TCP, 5, state, stamp);
}

static void a_first_packet_goes_by_the_table_and_is_remembered_as_new(void)
{
	reset();
	CU_ASSERT_EQUAL(choose(), GW_CHOOSE_OK);
	CU_ASSERT_EQUAL(out.backend, 1);
	CU_ASSERT_EQUAL(out.slot, 5); /* 40 mod 7 */
	CU_ASSERT_EQUAL(out.flow, GW_TRACE_NEW);
	CU_ASSERT_EQUAL(word_of_flow(), gw_flow_word(in.place.tag, 1, GW_FLOW_NEW, 1000));
}

static void a_tracked_flow_stays_whatever_the_table_says(void)
{
	reset();
	choose();
	named = 2;
	CU_ASSERT_EQUAL(choose(), GW_CHOOSE_OK);
	CU_ASSERT_EQUAL(out.backend, 1);
	CU_ASSERT_EQUAL(out.slot, GW_NONE);
	CU_ASSERT_EQUAL(out.flow, GW_TRACE_HIT);
	CU_ASSERT_EQUAL(gw_flow_state(word_of_flow()), GW_FLOW_ESTABLISHED);
}

static void draining_keeps_flows_and_gives_up_connections_that_start_anew(void)
{
	reset();
	choose();
	backends[1].state = GW_BACKEND_DRAIN;
	named = 2;
	choose();
	CU_ASSERT_EQUAL(out.backend, 1);
	in.event = GW_FLOW_SYN;
	choose();
	CU_ASSERT_EQUAL(out.backend, 2);
	CU_ASSERT_EQUAL(out.flow, GW_TRACE_MOVED);
	CU_ASSERT_EQUAL(word_of_flow(), gw_flow_word(in.place.tag, 2, GW_FLOW_NEW, 1000));
}

static void a_flow_leaves_a_backend_that_is_down_unless_told_to_stay(void)
{
	static const uint8_t states[] = {GW_BACKEND_DOWN, GW_BACKEND_DISABLED, GW_BACKEND_FREE};

	for (size_t i = 0; i < sizeof(states); i++) {
		reset();
		choose();
		backends[1].state = states[i];
		named = 2;
		choose();
		CU_ASSERT_EQUAL(out.backend, 2);
		CU_ASSERT_EQUAL(out.flow, GW_TRACE_MOVED);
	}
	reset();
	choose();
	backends[1].state = GW_BACKEND_DOWN;
	backends[1].flags = GW_BACKEND_KEEP_ON_DOWN;
	named = 2;
	choose();
	CU_ASSERT_EQUAL(out.backend, 1);
}

static void a_hit_on_a_backend_of_another_pool_is_replaced_in_place(void)
{
	reset();
	choose();
	backends[1].pool = POOL + 1;
	named = 2;
	choose();
	CU_ASSERT_EQUAL(out.backend, 2);
	CU_ASSERT_EQUAL(gw_flow_backend(word_of_flow()), 2);
	CU_ASSERT_EQUAL(table[2].word[1], GW_FLOW_EMPTY); /* one flow, one word */
}

static void an_expired_flow_goes_by_the_table(void)
{
	reset();
	choose();
	named = 2;
	in.now = 1010;
	choose();
	CU_ASSERT_EQUAL(out.backend, 1); /* tcp_new: 10 s are not over */
	reset();
	choose();
	named = 2;
	in.now = 1011;
	choose();
	CU_ASSERT_EQUAL(out.backend, 2);
	CU_ASSERT_EQUAL(out.flow, GW_TRACE_NEW);
	CU_ASSERT_EQUAL(table[2].word[1], GW_FLOW_EMPTY);
}

static void without_a_member_the_packet_is_dropped_and_nothing_remembers_it(void)
{
	reset();
	named = GW_NONE;
	CU_ASSERT_EQUAL(choose(), GW_DROP_NO_BACKEND);
	CU_ASSERT_EQUAL(word_of_flow(), 0);
	named = 1;
	choose();
	backends[1].state = GW_BACKEND_DOWN;
	named = GW_NONE;
	CU_ASSERT_EQUAL(choose(), GW_DROP_NO_BACKEND);
	CU_ASSERT_EQUAL(gw_flow_backend(word_of_flow()), 1);
	backends[1].state = GW_BACKEND_ACTIVE;
	CU_ASSERT_EQUAL(choose(), GW_CHOOSE_OK);
	CU_ASSERT_EQUAL(out.backend, 1);
}

static void of_a_service_that_tracks_no_flows_the_table_alone_decides(void)
{
	struct gw_flow_bucket before;

	reset();
	choose(); /* tracked, on 1 */
	before = table[2];
	named = 2;
	in.now += 5;
	for (int event = GW_FLOW_PACKET; event <= GW_FLOW_END; event++) {
		in.event = (enum gw_flow_event)event;
		CU_ASSERT_EQUAL(gw_choose_by_table(&in, &ops, NULL, &out), GW_CHOOSE_OK);
		CU_ASSERT_EQUAL(out.backend, 2);
		CU_ASSERT_EQUAL(out.slot, 5); /* 40 mod 7 */
		CU_ASSERT_EQUAL(out.flow, GW_TRACE_TABLE_ONLY);
	}
	CU_ASSERT_EQUAL(memcmp(&before, &table[2], sizeof(before)), 0);
	named = GW_NONE;
	CU_ASSERT_EQUAL(gw_choose_by_table(&in, &ops, NULL, &out), GW_DROP_NO_BACKEND);
}

static void a_full_first_bucket_sends_the_flow_to_the_second_and_it_is_found_there(void)
{
	reset();
	fill(&table[2], GW_FLOW_ESTABLISHED, 1000);
	choose();
	CU_ASSERT_EQUAL(out.flow, GW_TRACE_NEW);
	CU_ASSERT_EQUAL(gw_flow_find(other_bucket(), in.place.tag), 0);
	table[2].word[4] = GW_FLOW_RETIRED; /* not empty: flows that overflowed are still sought */
	named = 2;
	choose();
	CU_ASSERT_EQUAL(out.backend, 1);
	CU_ASSERT_EQUAL(out.flow, GW_TRACE_HIT);
}

static void established_flows_are_never_given_up(void)
{
	struct gw_flow_bucket before[2];

	reset();
	fill(&table[2], GW_FLOW_ESTABLISHED, 1000);
	fill(other_bucket(), GW_FLOW_ESTABLISHED, 1000);
	before[0] = table[2];
	before[1] = *other_bucket();
	CU_ASSERT_EQUAL(choose(), GW_CHOOSE_OK);
	CU_ASSERT_EQUAL(out.backend, 1);
	CU_ASSERT_EQUAL(out.flow, GW_TRACE_UNTRACKED);
	CU_ASSERT_EQUAL(memcmp(&before[0], &table[2], sizeof(table[2])), 0);
	CU_ASSERT_EQUAL(memcmp(&before[1], other_bucket(), sizeof(table[2])), 0);
}

static void expired_goes_before_closing_and_closing_before_the_oldest_new(void)
{
	reset();
	fill(&table[2], GW_FLOW_ESTABLISHED, 1000);
	fill(other_bucket(), GW_FLOW_ESTABLISHED, 1000);
	table[2].word[1] = gw_flow_word(0x900 | GW_CLASS_TCP, 5, GW_FLOW_NEW, 995);
	other_bucket()->word[2] = gw_flow_word(0x910 | GW_CLASS_TCP, 5, GW_FLOW_NEW, 994);
	other_bucket()->word[3] = gw_flow_word(0x920 | GW_CLASS_TCP, 5, GW_FLOW_CLOSING, 1000);
	table[2].word[6] = gw_flow_word(0x930 | GW_CLASS_TCP, 5, GW_FLOW_ESTABLISHED, 99);
	choose();
	CU_ASSERT_EQUAL(gw_flow_tag(table[2].word[6]), in.place.tag);
	for (int i = 0; i < 3; i++) {
		next_flow();
		choose();
	}
	CU_ASSERT_EQUAL(gw_flow_backend(other_bucket()->word[3]), 1);
	CU_ASSERT_EQUAL(gw_flow_backend(other_bucket()->word[2]), 1);
	CU_ASSERT_EQUAL(gw_flow_backend(table[2].word[1]), 1);
	CU_ASSERT_EQUAL(gw_flow_backend(table[2].word[0]), 5);
}

static void insert_here(void)
{
	table[2].word[0] = gw_flow_word(in.place.tag, 6, GW_FLOW_NEW, 1000);
}

/* Nothing was there when this CPU looked; now another flow stands in the word it would take. */
static void insert_stranger(void)
{
	table[2].word[0] = gw_flow_word(0x990 | GW_CLASS_TCP, 6, GW_FLOW_ESTABLISHED, 1000);
}

static void a_word_taken_by_another_flow_meanwhile_is_left_to_it(void)
{
	reset();
	meanwhile = insert_stranger;
	choose();
	CU_ASSERT_EQUAL(out.flow, GW_TRACE_NEW);
	CU_ASSERT_EQUAL(gw_flow_backend(table[2].word[0]), 6);
	CU_ASSERT_EQUAL(gw_flow_tag(table[2].word[1]), in.place.tag);
}

/* The backend went down; before this CPU moves the flow, another has moved it to backend 6. */
static void a_flow_that_another_cpu_has_just_moved_goes_where_that_one_sent_it(void)
{
	reset();
	choose();
	backends[1].state = GW_BACKEND_DOWN;
	named = 2;
	meanwhile = insert_here;
	CU_ASSERT_EQUAL(choose(), GW_CHOOSE_OK);
	CU_ASSERT_EQUAL(out.backend, 6);
	CU_ASSERT_EQUAL(out.flow, GW_TRACE_HIT);
	CU_ASSERT_EQUAL(gw_flow_backend(word_of_flow()), 6);
}

static void fin_closes_and_a_new_syn_opens_again(void)
{
	reset();
	choose();
	choose();
	in.event = GW_FLOW_END;
	choose();
	CU_ASSERT_EQUAL(gw_flow_state(word_of_flow()), GW_FLOW_CLOSING);
	in.event = GW_FLOW_PACKET;
	in.now = 1059;
	choose(); /* a half-closed download goes on and is refreshed */
	CU_ASSERT_EQUAL(word_of_flow(), gw_flow_word(in.place.tag, 1, GW_FLOW_CLOSING, 1059));
	in.event = GW_FLOW_SYN;
	choose();
	CU_ASSERT_EQUAL(gw_flow_state(word_of_flow()), GW_FLOW_NEW);
}

static const struct gw_test tests[] = {
	GW_TEST(a_first_packet_goes_by_the_table_and_is_remembered_as_new),
	GW_TEST(a_tracked_flow_stays_whatever_the_table_says),
	GW_TEST(draining_keeps_flows_and_gives_up_connections_that_start_anew),
	GW_TEST(a_flow_leaves_a_backend_that_is_down_unless_told_to_stay),
	GW_TEST(a_hit_on_a_backend_of_another_pool_is_replaced_in_place),
	GW_TEST(an_expired_flow_goes_by_the_table),
	GW_TEST(without_a_member_the_packet_is_dropped_and_nothing_remembers_it),
	GW_TEST(of_a_service_that_tracks_no_flows_the_table_alone_decides),
	GW_TEST(a_full_first_bucket_sends_the_flow_to_the_second_and_it_is_found_there),
	GW_TEST(established_flows_are_never_given_up),
	GW_TEST(expired_goes_before_closing_and_closing_before_the_oldest_new),
	GW_TEST(a_word_taken_by_another_flow_meanwhile_is_left_to_it),
	GW_TEST(a_flow_that_another_cpu_has_just_moved_goes_where_that_one_sent_it),
	GW_TEST(fin_closes_and_a_new_syn_opens_again),
};

GW_SUITE("choose", tests)
