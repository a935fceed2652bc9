/* SPDX-License-Identifier: BSD-2-Clause */
/* Parts that random sets do not reach: crowded points, vector code, long memories, forged bytes. */
#include "chash/maglev_search.h"
#include "chash/points.h"
#include "chash/prime.h"
#include "chash/rendezvous_kernel.h"
#include "tests/unit/chash_sets.h"
#include "tests/unit/suite.h"

#include <xxhash.h>

#include <math.h>

/* ---- points ------------------------------------------------------------------------------ */

/* The first point above, found by looking at every one. */
static size_t above_plainly(const struct points *points, uint64_t hash)
{
	for (size_t i = 0; i < points->count; i++)
		if (points->point[i].hash > hash)
			return i;
	return 0;
}

static void points_check(struct points *points, unsigned int bits)
{
	uint64_t hashes[5], last = UINT64_MAX >> (64 - bits);

	CU_ASSERT_EQUAL_FATAL(points_sort(points, bits), 0);
	for (size_t i = 0; i < points->count; i++) {
		uint64_t hash = points->point[i].hash;
		uint32_t members[5];

		hashes[0] = hash;
		hashes[1] = hash ? hash - 1 : 0;
		hashes[2] = hash < last ? hash + 1 : last;
		hashes[3] = last;
		hashes[4] = sets_random() & last;
		points_above_many(points, hashes, 5, members);
		for (int j = 0; j < 5; j++) {
			size_t expected = above_plainly(points, hashes[j]);

			CU_ASSERT_EQUAL(points_above(points, hashes[j]), expected);
			CU_ASSERT_EQUAL(members[j], points->point[expected].member);
		}
		if (i)
			CU_ASSERT(points->point[i - 1].hash < hash ||
				  (points->point[i - 1].hash == hash &&
					  points->point[i - 1].member <= points->point[i].member));
	}
	points_free(points);
}

static void crowded_points_are_found_and_sorted(void)
{
	struct points points;

	/* Half of them within a thousand numbers, many the same; the others anywhere. */
	CU_ASSERT_EQUAL_FATAL(points_init(&points, 600), 0);
	for (uint32_t i = 0; i < 600; i++)
		points_add(&points, i % 2 ? 0x1234567800000000ull + sets_roll(1000) : sets_random(),
			sets_roll(50));
	points_check(&points, 64);
	/* All the same. */
	CU_ASSERT_EQUAL_FATAL(points_init(&points, 100), 0);
	for (uint32_t i = 0; i < 100; i++)
		points_add(&points, 77, 99 - i);
	points_check(&points, 64);
	/* 32 bits, and both ends. */
	CU_ASSERT_EQUAL_FATAL(points_init(&points, 302), 0);
	for (uint32_t i = 0; i < 300; i++)
		points_add(&points, sets_random() >> 32, i);
	points_add(&points, 0, 300);
	points_add(&points, UINT32_MAX, 301);
	points_check(&points, 32);
	CU_ASSERT_EQUAL(
		points_init(&points, (size_t)GW_CHASH_BUCKETS_MAX + 1), GW_CHASH_ERR_BUCKETS);
}

static void ketama_servers_have_points_by_their_share(void)
{
	static const uint32_t digests[] = {20, 40, 60}; /* floor(w / 6 * 40 * 3) */
	struct gw_chash *set = sets_new(GW_CHASH_KETAMA);
	struct gw_chash_points points;
	struct gw_chash_view *view;
	uint32_t count[3] = {0};

	CU_ASSERT_EQUAL(gw_chash_add_node(set, "a", 1, NULL), 0);
	CU_ASSERT_EQUAL(gw_chash_add_node(set, "b", 2, NULL), 0);
	CU_ASSERT_EQUAL(gw_chash_add_node(set, "c", 3, NULL), 0);
	view = gw_chash_snapshot(set);
	CU_ASSERT_EQUAL_FATAL(gw_chash_view_points(view, &points), 0);
	for (size_t i = 0; i < points.count; i++)
		count[points.point[i].member]++;
	for (int i = 0; i < 3; i++)
		CU_ASSERT_EQUAL(count[i], digests[i] * 4);
	gw_chash_view_unref(view);
	gw_chash_destroy(set);
}

/* ---- rendezvous -------------------------------------------------------------------------- */

static void kernel_check(const struct rendezvous_kernel *kernel, size_t count)
{
	uint64_t *seeds = malloc(count * sizeof(*seeds));
	double *periods = malloc(count * sizeof(*periods)),
	       *scores = malloc(count * sizeof(double));
	double *base = malloc(count * sizeof(double));

	for (size_t i = 0; i < count; i++) {
		seeds[i] = sets_random();
		periods[i] = 1.0 / (1 + sets_roll(1000));
	}
	for (int round = 0; round < 20; round++) {
		uint64_t key = sets_random();
		size_t least = 0;

		kernel->scores(seeds, periods, count, key, scores);
		rendezvous_kernel_base.scores(seeds, periods, count, key, base);
		CU_ASSERT_EQUAL(memcmp(scores, base, count * sizeof(double)), 0);
		for (size_t i = 1; i < count; i++)
			if (scores[i] < scores[least])
				least = i;
		CU_ASSERT_EQUAL(kernel->smallest(seeds, periods, count, key), least);
		/* With equal periods the largest hash is the smallest score. */
		for (size_t i = 0; i < count; i++)
			base[i] = 1;
		CU_ASSERT_EQUAL(kernel->largest(seeds, count, key),
			rendezvous_kernel_base.smallest(seeds, base, count, key));
	}
	free(seeds);
	free(periods);
	free(scores);
	free(base);
}

static void vector_code_ranks_members_as_plain_code_does(void)
{
	static const size_t counts[] = {1, 2, 7, 8, 9, 255, 256, 257, 511, 513, 3000};

	for (unsigned int i = 0; i < SETS_COUNT(counts); i++) {
		kernel_check(&rendezvous_kernel_base, counts[i]);
#if defined(__x86_64__)
		if (__builtin_cpu_supports("avx2"))
			kernel_check(&rendezvous_kernel_avx2, counts[i]);
		if (__builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
			kernel_check(&rendezvous_kernel_avx512, counts[i]);
#endif
	}
}

/* Scores are exponential times: their mean is the period, and so is their deviation. */
static void scores_are_exponential(void)
{
	enum { MANY = 100000 };
	static uint64_t seeds[MANY];
	static double periods[MANY], scores[MANY];
	double sum = 0, square = 0;

	for (uint32_t i = 0; i < MANY; i++) {
		seeds[i] = sets_random();
		periods[i] = 0.25;
	}
	rendezvous_kernel_base.scores(seeds, periods, MANY, 99, scores);
	for (uint32_t i = 0; i < MANY; i++) {
		CU_ASSERT(scores[i] >= 0);
		sum += scores[i];
		square += scores[i] * scores[i];
	}
	CU_ASSERT_DOUBLE_EQUAL(sum / MANY, 0.25, 0.005);
	CU_ASSERT_DOUBLE_EQUAL(sqrt(square / MANY - sum / MANY * sum / MANY), 0.25, 0.005);
}

/* ---- Maglev's search --------------------------------------------------------------------- */

static bool search_taken(const uint32_t *taken, uint32_t slot)
{
	return taken[slot / 32] >> (slot % 32) & 1;
}

/* Of `members` members every second looks, with one slot in `free_one_in` free. */
static void search_check(const struct maglev_search_code *code, uint32_t size, uint32_t members,
	uint32_t free_one_in)
{
	uint32_t *taken = calloc(size / 32 + 1, 4), *who = calloc(members + 16, 4), count = 0;
	uint32_t *columns = calloc(3 * ((size_t)members + 16), 4);
	struct maglev_turn *turns = calloc(members, sizeof(*turns));
	struct maglev_turn *before = calloc(members, sizeof(*before));
	struct maglev_search room = {columns, columns + members + 16, columns + 2 * (members + 16)};

	for (uint32_t slot = 1; slot < size; slot++)
		if (sets_roll(free_one_in))
			taken[slot / 32] |= 1u << (slot % 32);
	for (uint32_t i = 0; i < members; i++) {
		turns[i] = (struct maglev_turn){sets_roll(size), 1 + sets_roll(size - 1), 7, 9};
		if (i % 2 == 0)
			who[count++] = i;
	}
	memcpy(before, turns, members * sizeof(*turns));
	code->search(&room, taken, size, turns, who, count);
	for (uint32_t i = 0; i < members; i++) {
		uint64_t at = before[i].at;

		while (i % 2 == 0 && search_taken(taken, (uint32_t)at))
			at = (at + before[i].skip) % size;
		CU_ASSERT_EQUAL(turns[i].at, at);
		CU_ASSERT_EQUAL(turns[i].skip, before[i].skip);
		CU_ASSERT_EQUAL(turns[i].member, 7);
		CU_ASSERT_EQUAL(turns[i].weight, 9);
	}
	free(taken);
	free(who);
	free(columns);
	free(turns);
	free(before);
}

static void nearest_check(const struct maglev_search_code *code, uint32_t size, uint32_t count)
{
	uint32_t *vacant = calloc(count, 4), at = sets_roll(size), skip = 1 + sets_roll(size - 1);
	uint32_t found, best = 0, steps = UINT32_MAX;

	for (uint32_t i = 0; i < count; i++)
		vacant[i] = sets_roll(4) ? sets_roll(size) : i % 2 ? size - 1 : at;
	found = code->nearest(vacant, count, at, prime_inverse(skip, size), size);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t taken = 0;

		for (uint64_t place = at; place != vacant[i]; place = (place + skip) % size)
			taken++;
		if (taken < steps) {
			steps = taken;
			best = i;
		}
	}
	CU_ASSERT_EQUAL_FATAL(found < count, true);
	CU_ASSERT_EQUAL(vacant[found], vacant[best]);
	free(vacant);
}

static void code_check(const struct maglev_search_code *code)
{
	static const uint32_t sizes[] = {3, 31, 227, 1009, 65537};
	static const uint32_t members[] = {1, 2, 15, 16, 17, 33, 300, 1000};
	static const uint32_t rare[] = {1, 2, 20, 500};

	for (unsigned int s = 0; s < SETS_COUNT(sizes); s++)
		for (unsigned int m = 0; m < SETS_COUNT(members); m++) {
			for (unsigned int r = 0; r < SETS_COUNT(rare); r++)
				search_check(code, sizes[s], members[m], rare[r]);
			if (members[m] < 40)
				nearest_check(code, sizes[s], members[m]);
		}
	nearest_check(code, 5000011, 9);
	/* The slot 226 steps away is the farthest there is: any other comes first. */
	for (uint32_t slot = 0; slot < 227; slot++)
		for (uint32_t skip = 1; skip < 227; skip++)
			CU_ASSERT_EQUAL(code->nearest((uint32_t[]){slot, (100 + 226 * skip) % 227},
						2, 100, prime_inverse(skip, 227), 227),
				0);
}

static void members_find_the_slots_a_walk_would_find(void)
{
	code_check(&maglev_search_base);
#if defined(__x86_64__)
	if (__builtin_cpu_supports("avx512dq"))
		code_check(&maglev_search_avx512);
#endif
}

/* ---- long memories ----------------------------------------------------------------------- */

enum { STAGES = 1500, LOOKED = 50 };

static void buckets_look(struct gw_chash *set, uint32_t *buckets)
{
	struct gw_chash_view *view = gw_chash_snapshot(set);

	for (uint32_t i = 0; i < LOOKED; i++)
		CU_ASSERT_EQUAL(gw_chash_get_bucket_u64(view, sets_key(i), &buckets[i]), 0);
	gw_chash_view_unref(view);
}

/* Three of four leave, in random order; who comes then meets each state again, backwards. */
static void memory_unwinds(enum gw_chash_algorithm algorithm)
{
	static uint32_t before[STAGES][LOOKED], order[2000];
	struct gw_chash_options options;
	struct gw_chash *set = NULL;
	char id[16];

	gw_chash_options_init(&options, algorithm);
	options.capacity = 2000;
	CU_ASSERT_EQUAL_FATAL(gw_chash_create(&options, &set), 0);
	CU_ASSERT_EQUAL(gw_chash_add_buckets(set, 2000), 0);
	for (uint32_t i = 0; i < 2000; i++)
		order[i] = i;
	/* The last stays, so that Memento's numbers stay as many. */
	for (uint32_t i = 0; i < STAGES; i++) {
		uint32_t other = i + sets_roll(1999 - i), chosen = order[other];

		order[other] = order[i];
		order[i] = chosen;
		buckets_look(set, before[i]);
		snprintf(id, sizeof(id), "%u", chosen);
		CU_ASSERT_EQUAL(gw_chash_remove_node(set, id), 0);
	}
	for (uint32_t i = STAGES; i > 0; i--) {
		uint32_t now[LOOKED];

		snprintf(id, sizeof(id), "back-%u", i);
		CU_ASSERT_EQUAL(gw_chash_add_node(set, id, 1, NULL), 0);
		buckets_look(set, now);
		CU_ASSERT_EQUAL(memcmp(now, before[i - 1], sizeof(now)), 0);
	}
	gw_chash_destroy(set);
}

static void memento_and_anchor_unwind_a_long_memory(void)
{
	memory_unwinds(GW_CHASH_MEMENTO);
	memory_unwinds(GW_CHASH_ANCHOR);
}

static void dx_gives_out_the_lowest_free_bucket(void)
{
	struct gw_chash *set = sets_new(GW_CHASH_DX);
	struct gw_chash_view *view;
	uint32_t member;

	CU_ASSERT_EQUAL(gw_chash_add_buckets(set, 20), 0);
	CU_ASSERT_EQUAL(gw_chash_remove_node(set, "11"), 0);
	CU_ASSERT_EQUAL(gw_chash_remove_node(set, "4"), 0);
	CU_ASSERT_EQUAL(gw_chash_remove_node(set, "7"), 0);
	CU_ASSERT_EQUAL(gw_chash_add_node(set, "x", 2, NULL), 0);
	view = gw_chash_snapshot(set);
	CU_ASSERT_EQUAL_FATAL(gw_chash_view_find(view, "x", &member), 0);
	CU_ASSERT_EQUAL(gw_chash_view_members(view)[member].bucket, 4);
	CU_ASSERT_EQUAL(gw_chash_bucket_member(view, 7), member);
	CU_ASSERT_EQUAL(gw_chash_bucket_member(view, 11), GW_CHASH_NONE);
	gw_chash_view_unref(view);
	gw_chash_destroy(set);
}

static void a_removal_ignores_the_weight_beside_it(void)
{
	for (int a = 0; a < GW_CHASH_ALGORITHMS; a++) {
		struct gw_chash_change change = {GW_CHASH_REMOVE, "1", 7, "z"};
		struct gw_chash *set = sets_new(a);
		struct gw_chash_view *view;

		CU_ASSERT_EQUAL(gw_chash_add_buckets(set, 2), 0);
		CU_ASSERT_EQUAL(gw_chash_update(set, &change, 1, NULL), 0);
		view = gw_chash_snapshot(set);
		CU_ASSERT_EQUAL(gw_chash_view_count(view), 1);
		for (uint32_t i = 0; i < 50; i++)
			CU_ASSERT_EQUAL(sets_owner(view, sets_key(i)), 0);
		gw_chash_view_unref(view);
		gw_chash_destroy(set);
	}
}

/* ---- forged bytes ------------------------------------------------------------------------ */

struct forgery {
	const char *name;
	uint8_t members[80]; /* as serialised */
	size_t size;
	uint32_t count;
	int expected;
};

#define MEMBER(weight, id_length, zone_length) weight, 0, 0, 0, id_length, 0, zone_length, 0
#define HEAVY(id_length)		       0, 0, 0, 0x80, id_length, 0, 0, 0

static const struct forgery forgeries[] = {
	{"honest", {MEMBER(1, 1, 1), 'a', 'z', MEMBER(2, 2, 0), 'b', 'b'}, 20, 2, 0},
	{"unsorted", {MEMBER(1, 1, 0), 'b', MEMBER(1, 1, 0), 'a'}, 18, 2, GW_CHASH_ERR_CONTENT},
	{"duplicate", {MEMBER(1, 1, 0), 'a', MEMBER(1, 1, 0), 'a'}, 18, 2, GW_CHASH_ERR_CONTENT},
	{"NUL in an id", {MEMBER(1, 2, 0), 'a', 0, MEMBER(1, 1, 0), 'b'}, 19, 2,
		GW_CHASH_ERR_CONTENT},
	{"NUL in a zone", {MEMBER(1, 1, 1), 'a', 0, MEMBER(1, 1, 0), 'b'}, 19, 2,
		GW_CHASH_ERR_CONTENT},
	{"empty id", {MEMBER(1, 0, 2), 'a', 'b', MEMBER(1, 1, 0), 'b'}, 19, 2,
		GW_CHASH_ERR_CONTENT},
	{"weights overflow", {HEAVY(1), 'a', HEAVY(1), 'b'}, 18, 2, GW_CHASH_ERR_CONTENT},
	{"fewer members than bytes", {MEMBER(1, 1, 0), 'a', MEMBER(1, 1, 0), 'b'}, 18, 1,
		GW_CHASH_ERR_CONTENT},
	{"more members than bytes", {MEMBER(1, 1, 0), 'a', MEMBER(1, 1, 0), 'b'}, 18, 3,
		GW_CHASH_ERR_CONTENT},
	{"id past the end", {MEMBER(1, 1, 0), 'a', MEMBER(1, 60, 0), 'b'}, 18, 2,
		GW_CHASH_ERR_CONTENT},
};

/* Bytes for rendezvous, whose digest is over options and members: digest and checksum are right. */
static size_t forge(const struct forgery *forgery, uint8_t *bytes)
{
	size_t size = 80 + forgery->size + 16 + 8;
	struct gw_chash *set = sets_new(GW_CHASH_RENDEZVOUS);
	struct gw_chash_view *view = gw_chash_snapshot(set);
	uint64_t whole = size, checksum;
	XXH128_canonical_t digest;
	XXH3_state_t *state = XXH3_createState();
	size_t empty_size;
	void *empty;

	CU_ASSERT_EQUAL_FATAL(gw_chash_serialize(view, &empty, &empty_size), 0);
	memcpy(bytes, empty, 80);
	memcpy(bytes + 56, &whole, 8);
	memcpy(bytes + 64, &forgery->count, 4);
	memcpy(bytes + 80, forgery->members, forgery->size);
	XXH3_128bits_reset(state);
	XXH3_128bits_update(state, bytes + 12, 36);
	XXH3_128bits_update(state, bytes + 64, 4);
	XXH3_128bits_update(state, bytes + 80, forgery->size);
	XXH128_canonicalFromHash(&digest, XXH3_128bits_digest(state));
	memcpy(bytes + size - 24, digest.digest, 16);
	checksum = XXH3_64bits(bytes, size - 8);
	memcpy(bytes + size - 8, &checksum, 8);
	XXH3_freeState(state);
	gw_chash_view_unref(view);
	gw_chash_destroy(set);
	free(empty);
	return size;
}

static void forged_members_are_refused_though_all_sums_are_right(void)
{
	for (unsigned int i = 0; i < SETS_COUNT(forgeries); i++) {
		struct gw_chash *set = NULL;
		uint8_t bytes[256];
		size_t size = forge(&forgeries[i], bytes);
		int status = gw_chash_load(bytes, size, &set);

		if (status != forgeries[i].expected)
			printf("%s: %s\n", forgeries[i].name, gw_chash_strerror(status));
		CU_ASSERT_EQUAL(status, forgeries[i].expected);
		gw_chash_destroy(set);
	}
}

static const struct gw_test tests[] = {
	GW_TEST(crowded_points_are_found_and_sorted),
	GW_TEST(ketama_servers_have_points_by_their_share),
	GW_TEST(vector_code_ranks_members_as_plain_code_does),
	GW_TEST(scores_are_exponential),
	GW_TEST(members_find_the_slots_a_walk_would_find),
	GW_TEST(memento_and_anchor_unwind_a_long_memory),
	GW_TEST(dx_gives_out_the_lowest_free_bucket),
	GW_TEST(a_removal_ignores_the_weight_beside_it),
	GW_TEST(forged_members_are_refused_though_all_sums_are_right),
};

GW_SUITE("chash_internals", tests)
