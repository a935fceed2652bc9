/* SPDX-License-Identifier: BSD-2-Clause */
/* Preference lists, zones, bounded loads and lookups in bulk, for every algorithm. */
#include "chash/chash.h"
#include "tests/unit/chash_sets.h"
#include "tests/unit/suite.h"

#include <math.h>

/* `count` members of weight 1 to 4 (and some of 0 if asked for) in `zones` zones. */
static struct gw_chash_view *zoned_view(
	enum gw_chash_algorithm algorithm, uint32_t count, uint32_t zones, bool idle)
{
	struct gw_chash *set = sets_new(algorithm);
	struct gw_chash_view *view;

	for (uint32_t i = 0; i < count; i++) {
		char id[32], zone[16];

		sets_name(id, i);
		snprintf(zone, sizeof(zone), "zone-%u", sets_roll(zones));
		CU_ASSERT_EQUAL(
			gw_chash_add_node(set, id, idle && i % 5 == 0 ? 0 : 1 + sets_roll(4),
				zones ? zone : NULL),
			0);
	}
	view = gw_chash_snapshot(set);
	gw_chash_destroy(set);
	return view;
}

static uint32_t live_count(const struct gw_chash_view *view)
{
	uint32_t live = 0;

	for (uint32_t i = 0; i < gw_chash_view_count(view); i++)
		live += gw_chash_view_members(view)[i].weight > 0;
	return live;
}

static void list_check(const struct gw_chash_view *view, uint64_t key, uint32_t n)
{
	uint32_t *members = calloc(n + 1, sizeof(*members)), found = 99;
	uint32_t live = live_count(view);

	CU_ASSERT_EQUAL(gw_chash_get_nodes_u64(view, key, n, false, members, &found), 0);
	CU_ASSERT_EQUAL_FATAL(found, n < live ? n : live);
	if (found)
		CU_ASSERT_EQUAL(members[0], sets_owner(view, key));
	for (uint32_t i = 0; i < found; i++) {
		CU_ASSERT(gw_chash_view_members(view)[members[i]].weight > 0);
		for (uint32_t j = 0; j < i; j++)
			CU_ASSERT_NOT_EQUAL(members[i], members[j]);
	}
	free(members);
}

static void lists_are_distinct_and_begin_with_the_owner(void)
{
	static const uint32_t lengths[] = {0, 1, 2, 3, 31, 32, 33, 50, 64, 1000};

	for (int a = 0; a < GW_CHASH_ALGORITHMS; a++) {
		struct gw_chash_view *view = zoned_view(a, 64, 5, true);

		for (unsigned int n = 0; n < SETS_COUNT(lengths); n++)
			for (uint64_t key = 0; key < 40; key++)
				list_check(view, sets_key(key), lengths[n]);
		gw_chash_view_unref(view);
	}
}

static void longer_lists_begin_with_the_shorter_ones(void)
{
	for (int a = 0; a < GW_CHASH_ALGORITHMS; a++) {
		struct gw_chash_view *view = zoned_view(a, 50, 0, false);

		for (uint64_t key = 0; key < 50; key++) {
			uint32_t few[10], many[50], found;

			CU_ASSERT_EQUAL(
				gw_chash_get_nodes(view, &key, sizeof(key), 10, false, few, &found),
				0);
			CU_ASSERT_EQUAL(found, 10);
			CU_ASSERT_EQUAL(gw_chash_get_nodes(
						view, &key, sizeof(key), 50, false, many, &found),
				0);
			CU_ASSERT_EQUAL(found, 50);
			CU_ASSERT_EQUAL(memcmp(few, many, sizeof(few)), 0);
		}
		gw_chash_view_unref(view);
	}
}

/* In a spread list no zone comes twice before each that has weight came once. */
static void spread_check(const struct gw_chash_view *view, uint64_t key, uint32_t n)
{
	const struct gw_chash_member *members = gw_chash_view_members(view);
	uint32_t list[64], plain[64], found = 0, all = 0, zones = 0, distinct = 0;

	for (uint32_t i = 0; i < gw_chash_view_count(view); i++) {
		bool seen = !members[i].weight;

		for (uint32_t j = 0; j < i && !seen; j++)
			seen = members[j].weight && !strcmp(members[i].zone, members[j].zone);
		zones += !seen;
	}
	CU_ASSERT_EQUAL(gw_chash_get_nodes_u64(view, key, n, true, list, &found), 0);
	CU_ASSERT_EQUAL(gw_chash_get_nodes_u64(view, key, 64, false, plain, &all), 0);
	CU_ASSERT_EQUAL_FATAL(found, n < all ? n : all);
	CU_ASSERT_EQUAL(list[0], plain[0]);
	for (uint32_t i = 0; i < found; i++) {
		bool seen = false;

		for (uint32_t j = 0; j < i; j++) {
			CU_ASSERT_NOT_EQUAL(list[i], list[j]);
			seen = seen || !strcmp(members[list[i]].zone, members[list[j]].zone);
		}
		CU_ASSERT_EQUAL(seen, i >= zones);
		distinct += !seen;
	}
	CU_ASSERT_EQUAL(distinct, n < zones ? n : zones);
}

static void spread_lists_are_distinct_in_zone_while_zones_last(void)
{
	for (int a = 0; a < GW_CHASH_ALGORITHMS; a++) {
		struct gw_chash_view *view = zoned_view(a, 60, 7, true);

		for (uint32_t n = 1; n <= 12; n++)
			for (uint64_t key = 0; key < 30; key++)
				spread_check(view, sets_key(key), n);
		gw_chash_view_unref(view);
	}
}

static void spread_list_is_the_first_of_each_zone_in_preference_order(void)
{
	struct gw_chash_view *view = zoned_view(GW_CHASH_RENDEZVOUS, 40, 4, false);
	const struct gw_chash_member *members = gw_chash_view_members(view);

	for (uint64_t key = 0; key < 100; key++) {
		uint32_t spread[4], plain[40], found, at = 0;

		CU_ASSERT_EQUAL(
			gw_chash_get_nodes_u64(view, sets_key(key), 4, true, spread, &found), 0);
		CU_ASSERT_EQUAL(
			gw_chash_get_nodes_u64(view, sets_key(key), 40, false, plain, &found), 0);
		for (uint32_t i = 0; i < 40 && at < 4; i++) {
			bool seen = false;

			for (uint32_t j = 0; j < at; j++)
				seen = seen ||
				       !strcmp(members[plain[i]].zone, members[spread[j]].zone);
			if (!seen)
				CU_ASSERT_EQUAL(plain[i], spread[at++]);
		}
		CU_ASSERT_EQUAL(at, 4);
	}
	gw_chash_view_unref(view);
}

static void a_member_that_leaves_only_drops_out_of_rendezvous_lists(void)
{
	struct gw_chash *set = sets_new(GW_CHASH_RENDEZVOUS);
	struct gw_chash_view *before, *after;

	for (uint32_t i = 0; i < 20; i++)
		sets_add(set, i, 1 + i % 3);
	before = gw_chash_snapshot(set);
	CU_ASSERT_EQUAL(gw_chash_remove_node(set, sets_id(before, 7)), 0);
	after = gw_chash_snapshot(set);
	for (uint64_t key = 0; key < 200; key++) {
		uint32_t old[20], new[19], found, at = 0;

		CU_ASSERT_EQUAL(
			gw_chash_get_nodes_u64(before, sets_key(key), 20, false, old, &found), 0);
		CU_ASSERT_EQUAL(
			gw_chash_get_nodes_u64(after, sets_key(key), 19, false, new, &found), 0);
		for (uint32_t i = 0; i < 20; i++)
			if (old[i] != 7)
				CU_ASSERT_STRING_EQUAL(
					sets_id(before, old[i]), sets_id(after, new[at++]));
	}
	gw_chash_view_unref(before);
	gw_chash_view_unref(after);
	gw_chash_destroy(set);
}

/* ---- bounded loads ----------------------------------------------------------------------- */

/* Places keys one by one; after each no member may be above its bound. loads[count], owners[keys].
 */
static void bounded_place(const struct gw_chash_view *view, double factor, uint32_t keys,
	uint64_t *loads, uint32_t *owners)
{
	const struct gw_chash_member *members = gw_chash_view_members(view);
	double sum = 0;

	for (uint32_t i = 0; i < gw_chash_view_count(view); i++)
		sum += members[i].weight;
	for (uint32_t i = 0; i < keys; i++) {
		/* A skewed choice: the first tenth of the keys comes nine times in ten. */
		uint64_t key = sets_key(i % 10 ? i % (keys / 10) : i);
		uint32_t member = GW_CHASH_NONE;

		CU_ASSERT_EQUAL(
			gw_chash_get_node_bounded_u64(view, key, loads, i, factor, &member), 0);
		CU_ASSERT_FATAL(member < gw_chash_view_count(view));
		loads[member]++;
		owners[i] = member;
		CU_ASSERT((double)loads[member] <=
			  ceil(factor * (i + 1) * members[member].weight / sum));
	}
}

static void bounded_loads_never_exceed_the_bound(void)
{
	static const double factors[] = {1.0001, 1.1, 1.25, 2, 10};
	enum { BOUNDED_KEYS = 3000 };

	for (int a = 0; a < GW_CHASH_ALGORITHMS; a++) {
		struct gw_chash_view *view = zoned_view(a, 23, 3, true);

		for (unsigned int f = 0; f < SETS_COUNT(factors); f++) {
			uint64_t loads[23] = {0};
			uint32_t owners[BOUNDED_KEYS];

			bounded_place(view, factors[f], BOUNDED_KEYS, loads, owners);
		}
		gw_chash_view_unref(view);
	}
}

static void bounded_owner_is_the_plain_owner_while_it_has_room(void)
{
	static const enum gw_chash_algorithm three[] = {
		GW_CHASH_RING, GW_CHASH_RENDEZVOUS, GW_CHASH_MAGLEV};

	for (unsigned int a = 0; a < 3; a++) {
		struct gw_chash_view *view = zoned_view(three[a], 10, 0, false);
		uint64_t loads[10] = {0};

		for (uint64_t key = 0; key < 200; key++) {
			uint32_t list[10], found, member;
			uint64_t total = 0;

			CU_ASSERT_EQUAL(
				gw_chash_get_nodes(view, &key, 8, 10, false, list, &found), 0);
			memset(loads, 0, sizeof(loads));
			/* The owner and the second are full: all the load there is is theirs. */
			loads[list[0]] = loads[list[1]] = 1000;
			total = 2000;
			CU_ASSERT_EQUAL(gw_chash_get_node_bounded(
						view, &key, 8, loads, total, 1.01, &member),
				0);
			CU_ASSERT_NOT_EQUAL(member, list[0]);
			CU_ASSERT_EQUAL(member, loads[list[1]] < 1000 ? list[1] : list[2]);
			loads[list[0]] = loads[list[1]] = 0;
			loads[list[9]] = 2000;
			CU_ASSERT_EQUAL(gw_chash_get_node_bounded(
						view, &key, 8, loads, total, 1.01, &member),
				0);
			CU_ASSERT_EQUAL(member, list[0]);
		}
		gw_chash_view_unref(view);
	}
}

/* One member leaves; all keys are placed anew in the same order. Moved keys per key it had. */
static double bounded_movement(enum gw_chash_algorithm algorithm, double factor)
{
	enum { MEMBERS = 50, PLACED = 5000 };
	struct gw_chash *set = sets_new(algorithm);
	struct gw_chash_view *before, *after;
	uint64_t loads[MEMBERS] = {0}, less[MEMBERS] = {0};
	static uint32_t from[PLACED], to[PLACED];
	uint32_t moved = 0;

	for (uint32_t i = 0; i < MEMBERS; i++)
		sets_add(set, i, 1);
	before = gw_chash_snapshot(set);
	bounded_place(before, factor, PLACED, loads, from);
	CU_ASSERT_EQUAL(gw_chash_remove_node(set, sets_id(before, 17)), 0);
	after = gw_chash_snapshot(set);
	bounded_place(after, factor, PLACED, less, to);
	for (uint32_t i = 0; i < PLACED; i++)
		moved += strcmp(sets_id(before, from[i]), sets_id(after, to[i])) != 0;
	gw_chash_view_unref(before);
	gw_chash_view_unref(after);
	gw_chash_destroy(set);
	return moved / (double)loads[17];
}

static void a_leaving_member_moves_few_keys_under_bounded_loads(void)
{
	static const enum gw_chash_algorithm three[] = {
		GW_CHASH_RING, GW_CHASH_RENDEZVOUS, GW_CHASH_MAGLEV};
	static const double epsilons[] = {0.25, 0.5, 1};

	for (unsigned int a = 0; a < 3; a++)
		for (unsigned int e = 0; e < SETS_COUNT(epsilons); e++) {
			double factor = bounded_movement(three[a], 1 + epsilons[e]);

			/* O(1/epsilon^2) of the load that left; the constant is small in practice.
			 */
			CU_ASSERT(factor >= 1);
			CU_ASSERT(factor <= 2 + 2 / (epsilons[e] * epsilons[e]));
		}
}

/* ---- bulk -------------------------------------------------------------------------------- */

static void bulk_answers_equal_single_ones(void)
{
	enum { MANY = 1003 };
	uint64_t keys[MANY];
	uint32_t members[MANY];

	for (uint32_t i = 0; i < MANY; i++)
		keys[i] = i < 3 ? UINT64_MAX - i : sets_key(i);
	for (int a = 0; a < GW_CHASH_ALGORITHMS; a++) {
		struct gw_chash_view *view = zoned_view(a, 40, 0, true);

		for (uint32_t count = 0; count <= MANY; count = count * 2 + 1) {
			memset(members, 0xff, sizeof(members));
			CU_ASSERT_EQUAL(gw_chash_get_node_bulk(view, keys, count, members), 0);
			for (uint32_t i = 0; i < count; i++)
				CU_ASSERT_EQUAL(members[i], sets_owner(view, keys[i]));
			if (count < MANY)
				CU_ASSERT_EQUAL(members[count], GW_CHASH_NONE);
		}
		gw_chash_view_unref(view);
	}
}

static void the_hash_of_a_key_leads_to_the_keys_owner(void)
{
	for (int a = 0; a < GW_CHASH_ALGORITHMS; a++) {
		struct gw_chash_view *view = zoned_view(a, 40, 0, false);

		for (uint32_t i = 0; i < 100 && a != GW_CHASH_MULTIPROBE; i++) {
			uint32_t member = GW_CHASH_NONE;

			CU_ASSERT_EQUAL(gw_chash_get_node(view, &i, sizeof(i), &member), 0);
			CU_ASSERT_EQUAL(
				member, sets_owner(view, gw_chash_view_hash(view, &i, sizeof(i))));
		}
		gw_chash_view_unref(view);
	}
}

static void buckets_lead_to_the_members_that_own_them(void)
{
	for (int a = 0; a < GW_CHASH_ALGORITHMS; a++) {
		struct gw_chash_view *view = zoned_view(a, 40, 0, true);
		uint32_t bucket = 7;

		for (uint32_t i = 0; i < 100; i++) {
			int status = gw_chash_get_bucket_u64(view, sets_key(i), &bucket);

			if (!gw_chash_traits(a)->buckets) {
				CU_ASSERT_EQUAL(status, GW_CHASH_ERR_UNSUPPORTED);
				continue;
			}
			CU_ASSERT_EQUAL(status, 0);
			CU_ASSERT_EQUAL(gw_chash_bucket_member(view, bucket),
				sets_owner(view, sets_key(i)));
		}
		gw_chash_view_unref(view);
	}
}

/* The search inside a crowded entry of the index: many points with the same hash. */
static void ring_finds_owners_among_points_that_crowd_together(void)
{
	struct gw_chash *set = sets_new(GW_CHASH_RING);
	struct gw_chash_points points;
	struct gw_chash_view *view;

	for (uint32_t i = 0; i < 30; i++)
		sets_add(set, i, 1 + sets_roll(9));
	view = gw_chash_snapshot(set);
	CU_ASSERT_EQUAL_FATAL(gw_chash_view_points(view, &points), 0);
	for (size_t i = 0; i < points.count; i++) {
		size_t next = i + 1;

		if (i)
			CU_ASSERT(points.point[i - 1].hash <= points.point[i].hash);
		while (next < points.count && points.point[next].hash == points.point[i].hash)
			next++;
		/* Strictly above: a key on a point belongs to the next one; below it, to it. */
		CU_ASSERT_EQUAL(sets_owner(view, points.point[i].hash),
			points.point[next % points.count].member);
		if (!i || points.point[i - 1].hash < points.point[i].hash)
			CU_ASSERT_EQUAL(
				sets_owner(view, points.point[i].hash - 1), points.point[i].member);
	}
	CU_ASSERT_EQUAL(sets_owner(view, UINT64_MAX), points.point[0].member);
	CU_ASSERT_EQUAL(sets_owner(view, 0), points.point[0].member);
	gw_chash_view_unref(view);
	gw_chash_destroy(set);
}

static void dx_finds_owners_in_an_almost_empty_capacity(void)
{
	struct gw_chash_options options;
	struct gw_chash *set = NULL;
	struct gw_chash_view *before, *after;
	uint32_t loads[3] = {0};

	gw_chash_options_init(&options, GW_CHASH_DX);
	options.capacity = 1 << 22;
	CU_ASSERT_EQUAL_FATAL(gw_chash_create(&options, &set), 0);
	CU_ASSERT_EQUAL(gw_chash_add_buckets(set, 3), 0);
	before = gw_chash_snapshot(set);
	CU_ASSERT_EQUAL(gw_chash_remove_node(set, "1"), 0);
	after = gw_chash_snapshot(set);
	for (uint32_t i = 0; i < 300; i++) {
		uint32_t from = sets_owner(before, sets_key(i)),
			 to = sets_owner(after, sets_key(i));

		loads[from]++;
		if (strcmp(sets_id(before, from), sets_id(after, to)))
			CU_ASSERT_EQUAL(from, 1);
	}
	for (uint32_t i = 0; i < 3; i++)
		CU_ASSERT_DOUBLE_EQUAL(loads[i], 100, 45);
	gw_chash_view_unref(before);
	gw_chash_view_unref(after);
	gw_chash_destroy(set);
}

static const struct gw_test tests[] = {
	GW_TEST(lists_are_distinct_and_begin_with_the_owner),
	GW_TEST(longer_lists_begin_with_the_shorter_ones),
	GW_TEST(spread_lists_are_distinct_in_zone_while_zones_last),
	GW_TEST(spread_list_is_the_first_of_each_zone_in_preference_order),
	GW_TEST(a_member_that_leaves_only_drops_out_of_rendezvous_lists),
	GW_TEST(bounded_loads_never_exceed_the_bound),
	GW_TEST(bounded_owner_is_the_plain_owner_while_it_has_room),
	GW_TEST(a_leaving_member_moves_few_keys_under_bounded_loads),
	GW_TEST(bulk_answers_equal_single_ones),
	GW_TEST(the_hash_of_a_key_leads_to_the_keys_owner),
	GW_TEST(buckets_lead_to_the_members_that_own_them),
	GW_TEST(ring_finds_owners_among_points_that_crowd_together),
	GW_TEST(dx_finds_owners_in_an_almost_empty_capacity),
};

GW_SUITE("chash_lists", tests)
