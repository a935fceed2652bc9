/* SPDX-License-Identifier: BSD-2-Clause */
/* The values public sources give for each algorithm, and the ring experiment's exact figures. */
#include "chash/chash.h"
#include "tests/unit/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static struct gw_chash *set_make(enum gw_chash_algorithm algorithm, uint32_t capacity)
{
	struct gw_chash_options options;
	struct gw_chash *set = NULL;

	gw_chash_options_init(&options, algorithm);
	options.capacity = capacity;
	CU_ASSERT_EQUAL_FATAL(gw_chash_create(&options, &set), 0);
	return set;
}

static uint32_t bucket_of(struct gw_chash *set, uint64_t key)
{
	struct gw_chash_view *view = gw_chash_snapshot(set);
	uint32_t bucket = GW_CHASH_NONE;

	CU_ASSERT_EQUAL(gw_chash_get_bucket_u64(view, key, &bucket), 0);
	gw_chash_view_unref(view);
	return bucket;
}

/* ---- jump -------------------------------------------------------------------------------- */

static void jump_equals_published_values_for_a_hundred_buckets(void)
{
	static const uint32_t expected[] = {
		0, 55, 62, 8, 45, 59, 86, 97, 82, 59, 73, 37, 17, 56, 86, 21, 90, 37, 38, 83};
	struct gw_chash *set = set_make(GW_CHASH_JUMP, 0);

	CU_ASSERT_EQUAL_FATAL(gw_chash_add_buckets(set, 100), 0);
	for (uint64_t key = 0; key < COUNT(expected); key++)
		CU_ASSERT_EQUAL(bucket_of(set, key), expected[key]);
	gw_chash_destroy(set);
}

static void jump_equals_published_values_for_other_counts(void)
{
	static const struct {
		uint64_t key;
		uint32_t buckets, expected;
	} cases[] = {
		{10863919174838991ull, 11, 6},
		{2016238256797177309ull, 11, 3},
		{1673758223894951030ull, 11, 5},
		{2, 100001, 80343},
	};

	for (unsigned int i = 0; i < COUNT(cases); i++) {
		struct gw_chash *set = set_make(GW_CHASH_JUMP, 0);

		CU_ASSERT_EQUAL_FATAL(gw_chash_add_buckets(set, cases[i].buckets), 0);
		CU_ASSERT_EQUAL(bucket_of(set, cases[i].key), cases[i].expected);
		gw_chash_destroy(set);
	}
}

/* ---- ketama ------------------------------------------------------------------------------ */

static void ketama_points_equal_libketamas(void)
{
	struct gw_chash *set = set_make(GW_CHASH_KETAMA, 0);
	struct gw_chash_points points;
	struct gw_chash_view *view;
	uint32_t member;
	size_t at = 0;

	CU_ASSERT_EQUAL(gw_chash_add_node(set, "127.0.0.1:11211", 600, NULL), 0);
	CU_ASSERT_EQUAL(gw_chash_add_node(set, "127.0.0.1:11212", 400, NULL), 0);
	view = gw_chash_snapshot(set);
	CU_ASSERT_EQUAL(gw_chash_view_hash(view, "test", 4), 3446378249u);
	CU_ASSERT_EQUAL_FATAL(gw_chash_view_points(view, &points), 0);
	/* floor(0.6 * 40 * 2) + floor(0.4 * 40 * 2) digests of four points */
	CU_ASSERT_EQUAL(points.count, (48 + 32) * 4);
	while (at < points.count && points.point[at].hash < 3446378249u)
		at++;
	CU_ASSERT_FATAL(at < points.count);
	CU_ASSERT_EQUAL(points.point[at].hash, 3454255383u);
	CU_ASSERT_EQUAL(points.point[at].member, 0);
	CU_ASSERT_EQUAL_FATAL(gw_chash_get_node(view, "test", 4, &member), 0);
	CU_ASSERT_STRING_EQUAL(gw_chash_view_members(view)[member].id, "127.0.0.1:11211");
	gw_chash_view_unref(view);
	gw_chash_destroy(set);
}

static void ketama_owners_equal_spymemcacheds(void)
{
	struct gw_chash *set = set_make(GW_CHASH_KETAMA, 0);
	char id[64];

	for (int port = 10000; port < 10004; port++) {
		snprintf(id, sizeof(id), "127.0.0.1:%d", port);
		CU_ASSERT_EQUAL(gw_chash_add_node(set, id, 1, NULL), 0);
	}
	CU_ASSERT_EQUAL(gw_chash_get_id(set, "dustin", 6, id, sizeof(id)), 0);
	CU_ASSERT_STRING_EQUAL(id, "127.0.0.1:10000");
	CU_ASSERT_EQUAL(gw_chash_get_id(set, "noelani", 7, id, sizeof(id)), 0);
	CU_ASSERT_STRING_EQUAL(id, "127.0.0.1:10002");
	gw_chash_destroy(set);
}

/* ---- AnchorHash -------------------------------------------------------------------------- */

static void anchor_expect(struct gw_chash *set, const uint32_t *k, const uint32_t *w,
	const uint32_t *l, uint32_t working)
{
	uint32_t have_k[7], have_w[7], have_l[7], have_working;
	struct gw_chash_view *view = gw_chash_snapshot(set);

	CU_ASSERT_EQUAL_FATAL(
		gw_chash_view_anchor(view, NULL, have_k, have_w, have_l, &have_working), 0);
	if (k)
		CU_ASSERT_EQUAL(memcmp(have_k, k, sizeof(have_k)), 0);
	if (w)
		CU_ASSERT_EQUAL(memcmp(have_w, w, sizeof(have_w)), 0);
	if (l)
		CU_ASSERT_EQUAL(memcmp(have_l, l, sizeof(have_l)), 0);
	CU_ASSERT_EQUAL(have_working, working);
	gw_chash_view_unref(view);
}

static void anchor_states_equal_the_papers_example(void)
{
	struct gw_chash *set = set_make(GW_CHASH_ANCHOR, 7);

	CU_ASSERT_EQUAL_FATAL(gw_chash_add_buckets(set, 7), 0);
	CU_ASSERT_EQUAL(gw_chash_remove_node(set, "6"), 0);
	CU_ASSERT_EQUAL(gw_chash_remove_node(set, "5"), 0);
	CU_ASSERT_EQUAL(gw_chash_remove_node(set, "1"), 0);
	anchor_expect(
		set, NULL, (uint32_t[]){0, 4, 2, 3, 4, 5, 6}, (uint32_t[]){0, 1, 2, 3, 1, 5, 6}, 4);
	CU_ASSERT_EQUAL(gw_chash_remove_node(set, "0"), 0);
	anchor_expect(set, (uint32_t[]){3, 4, 2, 3, 4, 5, 6}, NULL, NULL, 3);
	gw_chash_destroy(set);
}

static void anchor_bucket_returns_to_the_state_before_it_left(void)
{
	struct gw_chash *set = set_make(GW_CHASH_ANCHOR, 7);
	struct gw_chash_view *view;

	CU_ASSERT_EQUAL_FATAL(gw_chash_add_buckets(set, 7), 0);
	CU_ASSERT_EQUAL(gw_chash_remove_node(set, "6"), 0);
	CU_ASSERT_EQUAL(gw_chash_remove_node(set, "5"), 0);
	CU_ASSERT_EQUAL(gw_chash_remove_node(set, "1"), 0);
	CU_ASSERT_EQUAL(gw_chash_remove_node(set, "0"), 0);
	CU_ASSERT_EQUAL(gw_chash_add_node(set, "again", 1, NULL), 0);
	anchor_expect(
		set, NULL, (uint32_t[]){0, 4, 2, 3, 4, 5, 6}, (uint32_t[]){0, 1, 2, 3, 1, 5, 6}, 4);
	view = gw_chash_snapshot(set);
	CU_ASSERT_STRING_EQUAL(
		gw_chash_view_members(view)[gw_chash_bucket_member(view, 0)].id, "again");
	CU_ASSERT_EQUAL(gw_chash_bucket_member(view, 1), GW_CHASH_NONE);
	gw_chash_view_unref(view);
	gw_chash_destroy(set);
}

/* ---- multi-probe ------------------------------------------------------------------------- */

static void multiprobe_owners_equal_the_references(void)
{
	/* The key "shard-1" belongs to shard-1389, "shard-2" to shard-4257, and so on. */
	static const unsigned int expected[] = {1389, 4257, 4744, 4613, 3027, 1872, 3565, 5494,
		5517, 3009, 163, 2061, 5627, 787, 2917, 2329, 3737, 4750, 1660, 21};
	struct gw_chash_change *changes = calloc(6000, sizeof(*changes));
	struct gw_chash *set = set_make(GW_CHASH_MULTIPROBE, 0);
	char(*names)[16] = calloc(6000, sizeof(*names)), id[16];

	for (unsigned int i = 0; i < 6000; i++) {
		snprintf(names[i], sizeof(names[i]), "shard-%u", i + 1);
		changes[i] = (struct gw_chash_change){GW_CHASH_ADD, names[i], 1, NULL};
	}
	CU_ASSERT_EQUAL_FATAL(gw_chash_update(set, changes, 6000, NULL), 0);
	for (unsigned int i = 0; i < COUNT(expected); i++) {
		char wanted[16];

		snprintf(wanted, sizeof(wanted), "shard-%u", expected[i]);
		CU_ASSERT_EQUAL(
			gw_chash_get_id(set, names[i], strlen(names[i]), id, sizeof(id)), 0);
		CU_ASSERT_STRING_EQUAL(id, wanted);
	}
	gw_chash_destroy(set);
	free(changes);
	free(names);
}

/* ---- hashes ------------------------------------------------------------------------------ */

static void hash_expect(enum gw_chash_hash hash, const char *key, uint64_t expected)
{
	uint64_t value = 0;

	CU_ASSERT_EQUAL(gw_chash_hash_key(hash, 0, key, strlen(key), &value), 0);
	CU_ASSERT_EQUAL(value, expected);
}

static void hashes_equal_published_values(void)
{
	hash_expect(GW_CHASH_XXH64, "", 0xef46db3751d8e999ull);
	hash_expect(GW_CHASH_XXH64, "abc", 0x44bc2cf5ad770999ull);
	hash_expect(GW_CHASH_XXH3, "", 0x2d06800538d394c2ull);
	hash_expect(GW_CHASH_MURMUR3, "", 0);
	hash_expect(GW_CHASH_MURMUR3, "hello", 0xcbd8a7b341bd9b02ull);
	hash_expect(GW_CHASH_MURMUR3, "The quick brown fox jumps over the lazy dog",
		0xe34bbc7bbc071b6cull);
	hash_expect(GW_CHASH_MD5, "", 0xd41d8cd98f00b204ull);
	hash_expect(GW_CHASH_MD5, "abc", 0x900150983cd24fb0ull);
	hash_expect(GW_CHASH_SIPHASH, "", 0x1e924b9d737700d7ull);
}

/* ---- the ring experiment ----------------------------------------------------------------- */

#define EXPERIMENT_KEYS 10000

static struct gw_chash_view *experiment_view(
	enum gw_chash_algorithm algorithm, uint32_t vnodes, int members)
{
	static const char *const ids[] = {"A", "B", "C", "D", "E"};
	struct gw_chash_options options;
	struct gw_chash_view *view;
	struct gw_chash *set = NULL;

	gw_chash_options_init(&options, algorithm);
	options.hash = GW_CHASH_MD5;
	options.vnodes = vnodes;
	CU_ASSERT_EQUAL_FATAL(gw_chash_create(&options, &set), 0);
	for (int i = 0; i < members; i++)
		CU_ASSERT_EQUAL(gw_chash_add_node(set, ids[i], 1, NULL), 0);
	view = gw_chash_snapshot(set);
	gw_chash_destroy(set);
	return view;
}

static int up(const void *a, const void *b)
{
	uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;

	return left < right ? -1 : left > right;
}

static void experiment(enum gw_chash_algorithm algorithm, uint32_t vnodes, uint32_t moved,
	bool to_the_new_only, const uint32_t *loads)
{
	struct gw_chash_view *before = experiment_view(algorithm, vnodes, 4);
	struct gw_chash_view *after = experiment_view(algorithm, vnodes, 5);
	uint32_t have_moved = 0, elsewhere = 0, have[5] = {0};

	for (int i = 0; i < EXPERIMENT_KEYS; i++) {
		uint32_t from = 9, to = 9;
		char key[16];
		size_t length = (size_t)snprintf(key, sizeof(key), "user:%d", i);

		CU_ASSERT_EQUAL(gw_chash_get_node(before, key, length, &from), 0);
		CU_ASSERT_EQUAL(gw_chash_get_node(after, key, length, &to), 0);
		have_moved += from != to;
		elsewhere += from != to && to != 4;
		have[to]++;
	}
	qsort(have, 5, sizeof(have[0]), up);
	CU_ASSERT_EQUAL(have_moved, moved);
	CU_ASSERT_EQUAL(memcmp(have, loads, sizeof(have)), 0);
	if (to_the_new_only)
		CU_ASSERT_EQUAL(elsewhere, 0);
	gw_chash_view_unref(before);
	gw_chash_view_unref(after);
}

static void ring_experiment_comes_out_exactly(void)
{
	experiment(GW_CHASH_MODULO, 1, 8035, false, (uint32_t[]){1928, 2007, 2011, 2011, 2043});
	experiment(GW_CHASH_RING, 1, 1695, true, (uint32_t[]){124, 309, 1695, 3795, 4077});
	experiment(GW_CHASH_RING, 100, 1889, true, (uint32_t[]){1814, 1889, 1969, 2089, 2239});
}

/* ---- Maglev behind a handle -------------------------------------------------------------- */

static void maglev_view_has_envoys_slots(void)
{
	static const uint16_t expected[] = {1, 0, 0, 1, 0, 1, 1, 0, 1, 1, 1, 1, 1, 0, 1, 0, 1};
	struct gw_chash_options options;
	struct gw_chash_slots slots;
	struct gw_chash_view *view;
	struct gw_chash *set = NULL;

	gw_chash_options_init(&options, GW_CHASH_MAGLEV);
	CU_ASSERT_EQUAL(options.size, 65537);
	options.size = 17;
	CU_ASSERT_EQUAL_FATAL(gw_chash_create(&options, &set), 0);
	CU_ASSERT_EQUAL(gw_chash_add_node(set, "127.0.0.1:91", 2, NULL), 0);
	CU_ASSERT_EQUAL(gw_chash_add_node(set, "127.0.0.1:90", 1, NULL), 0);
	view = gw_chash_snapshot(set);
	CU_ASSERT_EQUAL_FATAL(gw_chash_view_slots(view, &slots), 0);
	CU_ASSERT_EQUAL(slots.size, 17);
	CU_ASSERT_EQUAL(memcmp(slots.u16, expected, sizeof(expected)), 0);
	for (uint64_t hash = 0; hash < 1000; hash++) {
		uint64_t value = hash * 0x9e3779b97f4a7c15ull;
		uint32_t member = 9;

		CU_ASSERT_EQUAL(gw_chash_get_node_u64(view, value, &member), 0);
		CU_ASSERT_EQUAL(member, expected[value % 17]);
	}
	gw_chash_view_unref(view);
	gw_chash_destroy(set);
}

static void maglev_slot_is_the_hash_modulo_the_size_at_every_size(void)
{
	static const uint64_t sizes[] = {2, 3, 5, 7, 13, 251, 65521, 65537, 655373, 5000011};

	for (unsigned int s = 0; s < COUNT(sizes); s++) {
		struct gw_chash_options options;
		struct gw_chash_slots slots;
		struct gw_chash_view *view;
		struct gw_chash *set = NULL;
		uint64_t value = 1;

		gw_chash_options_init(&options, GW_CHASH_MAGLEV);
		options.size = sizes[s];
		CU_ASSERT_EQUAL_FATAL(gw_chash_create(&options, &set), 0);
		CU_ASSERT_EQUAL(gw_chash_add_buckets(set, sizes[s] < 100 ? 2 : 100), 0);
		view = gw_chash_snapshot(set);
		CU_ASSERT_EQUAL_FATAL(gw_chash_view_slots(view, &slots), 0);
		for (int i = 0; i < 2000; i++) {
			uint64_t edge = i < 64 ? UINT64_MAX >> i : value;
			uint32_t member = 9;

			value = value * 6364136223846793005ull + 1442695040888963407ull;
			CU_ASSERT_EQUAL(gw_chash_get_node_u64(view, edge, &member), 0);
			CU_ASSERT_EQUAL(member, slots.u16[edge % sizes[s]]);
		}
		gw_chash_view_unref(view);
		gw_chash_destroy(set);
	}
}

static const struct gw_test tests[] = {
	GW_TEST(jump_equals_published_values_for_a_hundred_buckets),
	GW_TEST(jump_equals_published_values_for_other_counts),
	GW_TEST(ketama_points_equal_libketamas),
	GW_TEST(ketama_owners_equal_spymemcacheds),
	GW_TEST(anchor_states_equal_the_papers_example),
	GW_TEST(anchor_bucket_returns_to_the_state_before_it_left),
	GW_TEST(multiprobe_owners_equal_the_references),
	GW_TEST(hashes_equal_published_values),
	GW_TEST(ring_experiment_comes_out_exactly),
	GW_TEST(maglev_view_has_envoys_slots),
	GW_TEST(maglev_slot_is_the_hash_modulo_the_size_at_every_size),
};

GW_SUITE("chash_vectors", tests)
