/* SPDX-License-Identifier: BSD-2-Clause */
/* Each mistake has an error of its own, with words, and changes nothing. */
#include "chash/chash.h"
#include "tests/unit/chash_sets.h"
#include "tests/unit/suite.h"

#include <math.h>
#include <time.h>

/* What must be the same before and after a call that fails. */
struct state {
	uint64_t version;
	uint8_t digest[16];
};

static struct state state_of(struct gw_chash *set)
{
	struct gw_chash_view *view = gw_chash_snapshot(set);
	struct state state = {.version = gw_chash_view_version(view)};

	gw_chash_view_digest(view, state.digest);
	gw_chash_view_unref(view);
	return state;
}

static bool unchanged(struct gw_chash *set, const struct state *before)
{
	struct state now = state_of(set);

	return now.version == before->version && !memcmp(now.digest, before->digest, 16);
}

static void every_error_has_words_of_its_own(void)
{
	static const int errors[] = {GW_CHASH_ERR_ARGUMENT, GW_CHASH_ERR_MEMORY,
		GW_CHASH_ERR_DUPLICATE, GW_CHASH_ERR_UNKNOWN, GW_CHASH_ERR_EMPTY,
		GW_CHASH_ERR_ALL_ZERO, GW_CHASH_ERR_WEIGHT, GW_CHASH_ERR_WEIGHT_SUM,
		GW_CHASH_ERR_NOT_PRIME, GW_CHASH_ERR_SIZE, GW_CHASH_ERR_SLOTS,
		GW_CHASH_ERR_CAPACITY, GW_CHASH_ERR_BUCKETS, GW_CHASH_ERR_NOT_LAST, GW_CHASH_ERR_ID,
		GW_CHASH_ERR_FACTOR, GW_CHASH_ERR_FULL, GW_CHASH_ERR_UNSUPPORTED,
		GW_CHASH_ERR_TRUNCATED, GW_CHASH_ERR_MAGIC, GW_CHASH_ERR_FORMAT,
		GW_CHASH_ERR_CHECKSUM, GW_CHASH_ERR_CONTENT, GW_CHASH_ERR_PARAMETER};

	for (unsigned int i = 0; i < SETS_COUNT(errors); i++) {
		CU_ASSERT(errors[i] < 0);
		CU_ASSERT_STRING_NOT_EQUAL(gw_chash_strerror(errors[i]), "unknown error");
		for (unsigned int j = 0; j < i; j++) {
			CU_ASSERT_NOT_EQUAL(errors[i], errors[j]);
			CU_ASSERT_STRING_NOT_EQUAL(
				gw_chash_strerror(errors[i]), gw_chash_strerror(errors[j]));
		}
	}
	CU_ASSERT_STRING_EQUAL(gw_chash_strerror(-9999), "unknown error");
	CU_ASSERT_STRING_EQUAL(gw_chash_strerror(0), "success");
}

static void names_lead_back_to_what_they_name(void)
{
	for (int a = 0; a < GW_CHASH_ALGORITHMS; a++) {
		enum gw_chash_algorithm found = GW_CHASH_ALGORITHMS;

		CU_ASSERT_EQUAL(gw_chash_algorithm_parse(gw_chash_traits(a)->name, &found), 0);
		CU_ASSERT_EQUAL((int)found, a);
	}
	for (int h = 0; h < GW_CHASH_HASHES; h++) {
		enum gw_chash_hash found = GW_CHASH_HASHES;

		CU_ASSERT_EQUAL(gw_chash_hash_parse(gw_chash_hash_name(h), &found), 0);
		CU_ASSERT_EQUAL((int)found, h);
	}
	enum gw_chash_algorithm algorithm = GW_CHASH_JUMP;
	enum gw_chash_hash hash = GW_CHASH_MD5;

	CU_ASSERT_EQUAL(gw_chash_algorithm_parse("multiprobe", &algorithm), 0);
	CU_ASSERT_EQUAL(algorithm, GW_CHASH_MULTIPROBE);
	CU_ASSERT_EQUAL(gw_chash_algorithm_parse("nope", &algorithm), GW_CHASH_ERR_ARGUMENT);
	CU_ASSERT_EQUAL(gw_chash_algorithm_parse(NULL, &algorithm), GW_CHASH_ERR_ARGUMENT);
	CU_ASSERT_EQUAL(gw_chash_hash_parse("sha0", &hash), GW_CHASH_ERR_ARGUMENT);
	CU_ASSERT_EQUAL(algorithm, GW_CHASH_MULTIPROBE);
	CU_ASSERT_EQUAL(hash, GW_CHASH_MD5);
	CU_ASSERT_PTR_NULL(gw_chash_traits(GW_CHASH_ALGORITHMS));
	CU_ASSERT_PTR_NULL(gw_chash_hash_name(GW_CHASH_HASHES));
}

static void wrong_options_are_refused(void)
{
	static const struct {
		enum gw_chash_algorithm algorithm;
		uint64_t size;
		uint32_t vnodes, capacity, probes;
		int error;
	} cases[] = {
		{GW_CHASH_MAGLEV, 0, 1, 1, 1, GW_CHASH_ERR_SIZE},
		{GW_CHASH_MAGLEV, 1, 1, 1, 1, GW_CHASH_ERR_SIZE},
		{GW_CHASH_MAGLEV, 4, 1, 1, 1, GW_CHASH_ERR_NOT_PRIME},
		{GW_CHASH_MAGLEV, 65536, 1, 1, 1, GW_CHASH_ERR_NOT_PRIME},
		{GW_CHASH_MAGLEV, 5000012, 1, 1, 1, GW_CHASH_ERR_SIZE},
		{GW_CHASH_MAGLEV, (1ull << 32) + 7, 1, 1, 1, GW_CHASH_ERR_SIZE},
		{GW_CHASH_RING, 7, 0, 1, 1, GW_CHASH_ERR_PARAMETER},
		{GW_CHASH_RING, 7, UINT32_MAX, 1, 1, GW_CHASH_ERR_PARAMETER},
		{GW_CHASH_ANCHOR, 7, 1, 0, 1, GW_CHASH_ERR_PARAMETER},
		{GW_CHASH_ANCHOR, 7, 1, GW_CHASH_BUCKETS_MAX + 1, 1, GW_CHASH_ERR_PARAMETER},
		{GW_CHASH_DX, 7, 1, 0, 1, GW_CHASH_ERR_PARAMETER},
		{GW_CHASH_MULTIPROBE, 7, 1, 1, 0, GW_CHASH_ERR_PARAMETER},
		{GW_CHASH_ALGORITHMS, 7, 1, 1, 1, GW_CHASH_ERR_ARGUMENT},
	};

	for (unsigned int i = 0; i < SETS_COUNT(cases); i++) {
		struct gw_chash_options options = {.algorithm = cases[i].algorithm,
			.size = cases[i].size,
			.vnodes = cases[i].vnodes,
			.capacity = cases[i].capacity,
			.probes = cases[i].probes};
		struct gw_chash *set = NULL;

		CU_ASSERT_EQUAL(gw_chash_create(&options, &set), cases[i].error);
		CU_ASSERT_PTR_NULL(set);
	}
	struct gw_chash_options options;
	struct gw_chash *set = NULL;

	gw_chash_options_init(&options, GW_CHASH_RING);
	options.hash = GW_CHASH_HASHES;
	CU_ASSERT_EQUAL(gw_chash_create(&options, &set), GW_CHASH_ERR_ARGUMENT);
	CU_ASSERT_EQUAL(gw_chash_create(NULL, &set), GW_CHASH_ERR_ARGUMENT);
	gw_chash_options_init(&options, GW_CHASH_KETAMA);
	options.hash = GW_CHASH_XXH3;
	CU_ASSERT_EQUAL(gw_chash_create(&options, &set), GW_CHASH_ERR_PARAMETER);
	CU_ASSERT_PTR_NULL(set);
}

static void mistakes_with_members_change_nothing(void)
{
	char longest[GW_CHASH_ID_MAX + 1], longer[GW_CHASH_ID_MAX + 2];

	memset(longest, 'x', sizeof(longest));
	longest[GW_CHASH_ID_MAX] = 0;
	memset(longer, 'x', sizeof(longer));
	longer[GW_CHASH_ID_MAX + 1] = 0;
	for (int a = 0; a < GW_CHASH_ALGORITHMS; a++) {
		struct gw_chash *set = sets_new(a);
		struct state before;

		CU_ASSERT_EQUAL(gw_chash_add_node(set, longest, 1, longest), 0);
		CU_ASSERT_EQUAL(gw_chash_add_node(set, "b", 1, NULL), 0);
		before = state_of(set);
		CU_ASSERT_EQUAL(before.version, 2);
		CU_ASSERT_EQUAL(gw_chash_add_node(set, "b", 1, NULL), GW_CHASH_ERR_DUPLICATE);
		CU_ASSERT_EQUAL(gw_chash_remove_node(set, "c"), GW_CHASH_ERR_UNKNOWN);
		CU_ASSERT_EQUAL(gw_chash_set_weight(set, "c", 1), GW_CHASH_ERR_UNKNOWN);
		CU_ASSERT_EQUAL(gw_chash_add_node(set, "c", -1, NULL), GW_CHASH_ERR_WEIGHT);
		CU_ASSERT_EQUAL(gw_chash_set_weight(set, "b", -5), GW_CHASH_ERR_WEIGHT);
		CU_ASSERT_EQUAL(gw_chash_set_weight(set, "b", 1ll << 32), GW_CHASH_ERR_WEIGHT);
		CU_ASSERT_EQUAL(gw_chash_add_node(set, "c", INT64_MIN, NULL), GW_CHASH_ERR_WEIGHT);
		CU_ASSERT_EQUAL(gw_chash_add_node(set, "", 1, NULL), GW_CHASH_ERR_ID);
		CU_ASSERT_EQUAL(gw_chash_add_node(set, longer, 1, NULL), GW_CHASH_ERR_ID);
		CU_ASSERT_EQUAL(gw_chash_add_node(set, "c", 1, longer), GW_CHASH_ERR_ID);
		CU_ASSERT_EQUAL(gw_chash_add_node(set, NULL, 1, NULL), GW_CHASH_ERR_ARGUMENT);
		CU_ASSERT_EQUAL(gw_chash_remove_node(set, NULL), GW_CHASH_ERR_ARGUMENT);
		CU_ASSERT(unchanged(set, &before));
		gw_chash_destroy(set);
	}
}

static void weights_that_overflow_their_sum_are_refused(void)
{
	for (int a = 0; a < GW_CHASH_ALGORITHMS; a++) {
		struct gw_chash_change half[] = {
			{GW_CHASH_ADD, "a", 1ll << 31, NULL}, {GW_CHASH_ADD, "b", 1ll << 31, NULL}};
		struct gw_chash *set = sets_new(a);
		struct state before;
		size_t failed = 99;

		sets_add(set, 0, 1);
		before = state_of(set);
		CU_ASSERT_EQUAL(gw_chash_update(set, half, 2, &failed), GW_CHASH_ERR_WEIGHT_SUM);
		CU_ASSERT_EQUAL(failed, 2);
		CU_ASSERT(unchanged(set, &before));
		gw_chash_destroy(set);
	}
}

static void weights_too_large_for_points_or_buckets_are_refused_at_once(void)
{
	for (int a = 0; a < GW_CHASH_ALGORITHMS; a++) {
		struct gw_chash *set = sets_new(a);
		struct state before;
		clock_t start = clock();
		int status;

		sets_add(set, 0, 1);
		before = state_of(set);
		status = gw_chash_add_node(set, "huge", 4000000000ll, NULL);
		if (a == GW_CHASH_RENDEZVOUS || a == GW_CHASH_MAGLEV || a == GW_CHASH_KETAMA) {
			CU_ASSERT_EQUAL(status, 0);
		} else {
			CU_ASSERT_EQUAL(status, gw_chash_traits(a)->needs_capacity
							? GW_CHASH_ERR_CAPACITY
							: GW_CHASH_ERR_BUCKETS);
			CU_ASSERT(unchanged(set, &before));
		}
		CU_ASSERT((double)(clock() - start) / CLOCKS_PER_SEC < 1);
		gw_chash_destroy(set);
	}
}

static void empty_and_weightless_sets_have_no_owner(void)
{
	for (int a = 0; a < GW_CHASH_ALGORITHMS; a++) {
		struct gw_chash *set = sets_new(a);
		uint32_t member = 77, found = 78;
		uint64_t load = 0;
		struct gw_chash_view *view = gw_chash_snapshot(set);
		int expected = GW_CHASH_ERR_EMPTY;
		char id[8];

		for (int round = 0; round < 2; round++) {
			CU_ASSERT_EQUAL(gw_chash_get_node(view, "k", 1, &member), expected);
			CU_ASSERT_EQUAL(gw_chash_get_node_u64(view, 1, &member), expected);
			CU_ASSERT_EQUAL(gw_chash_get_node_bulk(view, &load, 1, &member), expected);
			CU_ASSERT_EQUAL(gw_chash_get_nodes(view, "k", 1, 1, true, &member, &found),
				expected);
			CU_ASSERT_EQUAL(
				gw_chash_get_node_bounded(view, "k", 1, &load, 0, 2, &member),
				expected);
			if (gw_chash_traits(a)->buckets)
				CU_ASSERT_EQUAL(
					gw_chash_get_bucket_u64(view, 1, &member), expected);
			CU_ASSERT_EQUAL(member, 77);
			CU_ASSERT_EQUAL(found, 78);
			gw_chash_view_unref(view);
			CU_ASSERT_EQUAL(gw_chash_get_id(set, "k", 1, id, sizeof(id)), expected);
			if (!round)
				CU_ASSERT_EQUAL(gw_chash_add_node(set, "idle", 0, NULL), 0);
			view = gw_chash_snapshot(set);
			expected = GW_CHASH_ERR_ALL_ZERO;
		}
		gw_chash_view_unref(view);
		/* And it comes back to life. */
		CU_ASSERT_EQUAL(gw_chash_set_weight(set, "idle", 2), 0);
		CU_ASSERT_EQUAL(gw_chash_get_id(set, "k", 1, id, sizeof(id)), 0);
		CU_ASSERT_STRING_EQUAL(id, "idle");
		CU_ASSERT_EQUAL(gw_chash_get_id(set, "k", 1, id, 4), GW_CHASH_ERR_ID);
		CU_ASSERT_EQUAL(gw_chash_remove_node(set, "idle"), 0);
		CU_ASSERT_EQUAL(gw_chash_get_id(set, "k", 1, id, sizeof(id)), GW_CHASH_ERR_EMPTY);
		gw_chash_destroy(set);
	}
}

static void maglev_refuses_more_members_than_slots(void)
{
	struct gw_chash_options options;
	struct gw_chash *set = NULL;
	struct state before;

	gw_chash_options_init(&options, GW_CHASH_MAGLEV);
	options.size = 7;
	CU_ASSERT_EQUAL_FATAL(gw_chash_create(&options, &set), 0);
	CU_ASSERT_EQUAL(gw_chash_add_buckets(set, 7), 0);
	before = state_of(set);
	CU_ASSERT_EQUAL(gw_chash_add_node(set, "eighth", 1, NULL), GW_CHASH_ERR_SLOTS);
	CU_ASSERT(unchanged(set, &before));
	/* One without weight needs no slot. */
	CU_ASSERT_EQUAL(gw_chash_add_node(set, "eighth", 0, NULL), 0);
	gw_chash_destroy(set);
}

static void capacity_is_a_limit(void)
{
	static const enum gw_chash_algorithm both[] = {GW_CHASH_ANCHOR, GW_CHASH_DX};

	for (unsigned int a = 0; a < 2; a++) {
		struct gw_chash_options options;
		struct gw_chash *set = NULL;
		struct state before;

		gw_chash_options_init(&options, both[a]);
		options.capacity = 5;
		CU_ASSERT_EQUAL_FATAL(gw_chash_create(&options, &set), 0);
		CU_ASSERT_EQUAL(gw_chash_add_buckets(set, 5), 0);
		before = state_of(set);
		CU_ASSERT_EQUAL(gw_chash_add_node(set, "sixth", 1, NULL), GW_CHASH_ERR_CAPACITY);
		CU_ASSERT_EQUAL(gw_chash_set_weight(set, "3", 2), GW_CHASH_ERR_CAPACITY);
		CU_ASSERT(unchanged(set, &before));
		CU_ASSERT_EQUAL(gw_chash_remove_node(set, "2"), 0);
		CU_ASSERT_EQUAL(gw_chash_add_node(set, "sixth", 1, NULL), 0);
		gw_chash_destroy(set);
	}
}

static void only_the_last_member_leaves_jump_and_its_kin(void)
{
	for (int a = 0; a < GW_CHASH_ALGORITHMS; a++) {
		struct gw_chash *set = sets_new(a);
		struct state before;

		CU_ASSERT_EQUAL(gw_chash_add_buckets(set, 3), 0);
		before = state_of(set);
		if (gw_chash_traits(a)->end_only) {
			CU_ASSERT_EQUAL(gw_chash_remove_node(set, "1"), GW_CHASH_ERR_NOT_LAST);
			CU_ASSERT_EQUAL(gw_chash_remove_node(set, "0"), GW_CHASH_ERR_NOT_LAST);
			CU_ASSERT_EQUAL(gw_chash_set_weight(set, "1", 5), GW_CHASH_ERR_NOT_LAST);
			CU_ASSERT_EQUAL(gw_chash_set_weight(set, "1", 0), GW_CHASH_ERR_NOT_LAST);
			CU_ASSERT(unchanged(set, &before));
			CU_ASSERT_EQUAL(gw_chash_set_weight(set, "1", 1), 0);
			CU_ASSERT_EQUAL(gw_chash_set_weight(set, "2", 4), 0);
			CU_ASSERT_EQUAL(gw_chash_remove_node(set, "2"), 0);
		}
		CU_ASSERT_EQUAL(gw_chash_remove_node(set, "1"), 0);
		gw_chash_destroy(set);
	}
}

static void an_update_is_done_whole_or_not_at_all(void)
{
	for (int a = 0; a < GW_CHASH_ALGORITHMS; a++) {
		struct gw_chash_change changes[] = {{GW_CHASH_ADD, "x", 1, NULL},
			{GW_CHASH_ADD, "y", 2, "here"}, {GW_CHASH_WEIGH, "y", 3, NULL},
			{GW_CHASH_REMOVE, "y", 0, NULL}, {GW_CHASH_ADD, "y", 1, "there"},
			{GW_CHASH_ADD, "x", 1, NULL}};
		struct gw_chash *set = sets_new(a);
		struct gw_chash_view *view;
		struct state before;
		size_t failed = 99;
		uint32_t member;

		sets_add(set, 0, 1);
		before = state_of(set);
		CU_ASSERT_EQUAL(gw_chash_update(set, changes, 6, &failed), GW_CHASH_ERR_DUPLICATE);
		CU_ASSERT_EQUAL(failed, 5);
		CU_ASSERT(unchanged(set, &before));
		CU_ASSERT_EQUAL(gw_chash_update(set, changes, 5, &failed), 0);
		view = gw_chash_snapshot(set);
		CU_ASSERT_EQUAL(gw_chash_view_version(view), before.version + 1);
		CU_ASSERT_EQUAL(gw_chash_view_count(view), 3);
		CU_ASSERT_EQUAL_FATAL(gw_chash_view_find(view, "y", &member), 0);
		CU_ASSERT_EQUAL(gw_chash_view_members(view)[member].weight, 1);
		CU_ASSERT_STRING_EQUAL(gw_chash_view_members(view)[member].zone, "there");
		CU_ASSERT_EQUAL(gw_chash_view_find(view, "z", &member), GW_CHASH_ERR_UNKNOWN);
		gw_chash_view_unref(view);
		gw_chash_destroy(set);
	}
}

static void bounded_lookups_refuse_senseless_factors_and_loads(void)
{
	static const double factors[] = {1, 0.5, 0, -1, INFINITY, -INFINITY, NAN};
	struct gw_chash *set = sets_new(GW_CHASH_RING);
	uint64_t loads[3] = {1000000, 1000000, 1000000};
	struct gw_chash_view *view;
	uint32_t member = 77;

	CU_ASSERT_EQUAL(gw_chash_add_buckets(set, 3), 0);
	view = gw_chash_snapshot(set);
	for (unsigned int i = 0; i < SETS_COUNT(factors); i++)
		CU_ASSERT_EQUAL(
			gw_chash_get_node_bounded(view, "k", 1, loads, 0, factors[i], &member),
			GW_CHASH_ERR_FACTOR);
	CU_ASSERT_EQUAL(
		gw_chash_get_node_bounded(view, "k", 1, loads, 5, 1.5, &member), GW_CHASH_ERR_FULL);
	CU_ASSERT_EQUAL(gw_chash_get_node_bounded(view, "k", 1, NULL, 5, 1.5, &member),
		GW_CHASH_ERR_ARGUMENT);
	CU_ASSERT_EQUAL(member, 77);
	gw_chash_view_unref(view);
	gw_chash_destroy(set);
}

static void looks_inside_are_refused_where_there_is_nothing_to_see(void)
{
	for (int a = 0; a < GW_CHASH_ALGORITHMS; a++) {
		bool points =
			a == GW_CHASH_RING || a == GW_CHASH_KETAMA || a == GW_CHASH_MULTIPROBE;
		struct gw_chash *set = sets_new(a);
		struct gw_chash_points circle;
		struct gw_chash_slots slots;
		struct gw_chash_view *view;

		sets_add(set, 0, 1);
		view = gw_chash_snapshot(set);
		CU_ASSERT_EQUAL(gw_chash_view_slots(view, &slots),
			a == GW_CHASH_MAGLEV ? 0 : GW_CHASH_ERR_UNSUPPORTED);
		CU_ASSERT_EQUAL(
			gw_chash_view_points(view, &circle), points ? 0 : GW_CHASH_ERR_UNSUPPORTED);
		CU_ASSERT_EQUAL(gw_chash_view_anchor(view, NULL, NULL, NULL, NULL, NULL),
			a == GW_CHASH_ANCHOR ? 0 : GW_CHASH_ERR_UNSUPPORTED);
		CU_ASSERT(gw_chash_view_memory(view) > 64);
		gw_chash_view_unref(view);
		gw_chash_destroy(set);
	}
}

/* A million to one with a thousand members in the largest table: a third of a second, where a turn
 * for each unit of weight would take hours. */
static void extreme_weights_take_no_time_of_their_own(void)
{
	struct gw_chash_table_member *members = calloc(1000, sizeof(*members));
	char(*keys)[16] = calloc(1000, sizeof(*keys));
	struct gw_chash_table *table = NULL;
	struct timespec start, end;

	for (uint32_t i = 0; i < 1000; i++) {
		snprintf(keys[i], sizeof(keys[i]), "member-%u", i);
		members[i] = (struct gw_chash_table_member){keys[i], i == 500 ? 1000000 : 1};
	}
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &start);
	CU_ASSERT_EQUAL(gw_chash_table_build(members, 1000, 5000011, &table), 0);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
	CU_ASSERT(
		(double)(end.tv_sec - start.tv_sec) + (double)(end.tv_nsec - start.tv_nsec) / 1e9 <
		10);
#endif
	gw_chash_table_free(table);
	free(members);
	free(keys);
}

static const struct gw_test tests[] = {
	GW_TEST(every_error_has_words_of_its_own),
	GW_TEST(names_lead_back_to_what_they_name),
	GW_TEST(wrong_options_are_refused),
	GW_TEST(mistakes_with_members_change_nothing),
	GW_TEST(weights_that_overflow_their_sum_are_refused),
	GW_TEST(weights_too_large_for_points_or_buckets_are_refused_at_once),
	GW_TEST(empty_and_weightless_sets_have_no_owner),
	GW_TEST(maglev_refuses_more_members_than_slots),
	GW_TEST(capacity_is_a_limit),
	GW_TEST(only_the_last_member_leaves_jump_and_its_kin),
	GW_TEST(an_update_is_done_whole_or_not_at_all),
	GW_TEST(bounded_lookups_refuse_senseless_factors_and_loads),
	GW_TEST(looks_inside_are_refused_where_there_is_nothing_to_see),
	GW_TEST(extreme_weights_take_no_time_of_their_own),
};

GW_SUITE("chash_errors", tests)
