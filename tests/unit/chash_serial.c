/* SPDX-License-Identifier: BSD-2-Clause */
/* A view as bytes and back: equal in all, and no altered byte passes. */
#include "chash/chash.h"
#include "tests/unit/chash_sets.h"
#include "tests/unit/suite.h"

#include <xxhash.h>

/* A set with a history: weights, zones, members that left and came back. */
static struct gw_chash *set_with_history(enum gw_chash_algorithm algorithm)
{
	struct gw_chash_options options;
	struct gw_chash *set = NULL;
	char id[32];

	gw_chash_options_init(&options, algorithm);
	options.size = 251;
	options.vnodes = 5;
	options.capacity = 120;
	options.seed = algorithm == GW_CHASH_KETAMA ? 0 : 42;
	CU_ASSERT_EQUAL_FATAL(gw_chash_create(&options, &set), 0);
	for (uint32_t i = 0; i < 20; i++) {
		sets_name(id, i);
		CU_ASSERT_EQUAL(gw_chash_add_node(set, id, i % 4, i % 2 ? "east" : NULL), 0);
	}
	for (uint32_t i = 3; i < 12 && !gw_chash_traits(algorithm)->end_only; i += 2) {
		sets_name(id, i);
		CU_ASSERT_EQUAL(gw_chash_remove_node(set, id), 0);
	}
	if (!gw_chash_traits(algorithm)->end_only) {
		sets_add(set, 100, 3);
		sets_name(id, 15);
		CU_ASSERT_EQUAL(gw_chash_set_weight(set, id, 1), 0);
	}
	return set;
}

static void *bytes_of(struct gw_chash *set, size_t *size)
{
	struct gw_chash_view *view = gw_chash_snapshot(set);
	void *bytes = NULL;

	CU_ASSERT_EQUAL_FATAL(gw_chash_serialize(view, &bytes, size), 0);
	gw_chash_view_unref(view);
	return bytes;
}

static void sets_compare(struct gw_chash *left, struct gw_chash *right)
{
	size_t left_size, right_size;
	void *left_bytes = bytes_of(left, &left_size), *right_bytes = bytes_of(right, &right_size);
	struct gw_chash_view *a = gw_chash_snapshot(left), *b = gw_chash_snapshot(right);

	CU_ASSERT_EQUAL_FATAL(left_size, right_size);
	CU_ASSERT_EQUAL(memcmp(left_bytes, right_bytes, left_size), 0);
	CU_ASSERT_EQUAL(gw_chash_view_version(a), gw_chash_view_version(b));
	for (uint32_t i = 0; i < 500; i++)
		CU_ASSERT_EQUAL(sets_owner(a, sets_key(i)), sets_owner(b, sets_key(i)));
	for (uint32_t i = 0; i < gw_chash_view_count(a); i++) {
		const struct gw_chash_member *one = &gw_chash_view_members(a)[i];
		const struct gw_chash_member *two = &gw_chash_view_members(b)[i];

		CU_ASSERT_STRING_EQUAL(one->id, two->id);
		CU_ASSERT_STRING_EQUAL(one->zone, two->zone);
		CU_ASSERT_EQUAL(one->weight, two->weight);
		CU_ASSERT_EQUAL(one->bucket, two->bucket);
	}
	gw_chash_view_unref(a);
	gw_chash_view_unref(b);
	free(left_bytes);
	free(right_bytes);
}

static void loaded_view_equals_the_one_serialised(void)
{
	for (int a = 0; a < GW_CHASH_ALGORITHMS; a++) {
		struct gw_chash *set = set_with_history(a), *loaded = NULL;
		size_t size;
		void *bytes = bytes_of(set, &size);

		CU_ASSERT_EQUAL_FATAL(gw_chash_load(bytes, size, &loaded), 0);
		sets_compare(set, loaded);
		gw_chash_destroy(set);
		gw_chash_destroy(loaded);
		free(bytes);
	}
}

static void loaded_view_goes_on_changing_as_the_original_does(void)
{
	for (int a = 0; a < GW_CHASH_ALGORITHMS; a++) {
		struct gw_chash *set = set_with_history(a), *loaded = NULL;
		size_t size;
		void *bytes = bytes_of(set, &size);

		CU_ASSERT_EQUAL_FATAL(gw_chash_load(bytes, size, &loaded), 0);
		for (uint32_t i = 0; i < 12; i++) {
			sets_add(set, 200 + i, 1 + i % 3);
			sets_add(loaded, 200 + i, 1 + i % 3);
		}
		sets_compare(set, loaded);
		gw_chash_destroy(set);
		gw_chash_destroy(loaded);
		free(bytes);
	}
}

static void empty_view_survives_the_journey(void)
{
	for (int a = 0; a < GW_CHASH_ALGORITHMS; a++) {
		struct gw_chash *set = sets_new(a), *loaded = NULL;
		struct gw_chash_view *view;
		size_t size;
		void *bytes = bytes_of(set, &size);

		CU_ASSERT_EQUAL_FATAL(gw_chash_load(bytes, size, &loaded), 0);
		view = gw_chash_snapshot(loaded);
		CU_ASSERT_EQUAL(gw_chash_view_count(view), 0);
		CU_ASSERT_EQUAL(gw_chash_view_version(view), 0);
		gw_chash_view_unref(view);
		gw_chash_destroy(set);
		gw_chash_destroy(loaded);
		free(bytes);
	}
}

static void every_truncation_is_told(void)
{
	for (int a = 0; a < GW_CHASH_ALGORITHMS; a++) {
		struct gw_chash *set = set_with_history(a), *loaded = NULL;
		size_t size;
		void *bytes = bytes_of(set, &size);

		for (size_t left = 0; left < size; left++)
			CU_ASSERT_EQUAL(
				gw_chash_load(bytes, left, &loaded), GW_CHASH_ERR_TRUNCATED);
		CU_ASSERT_PTR_NULL(loaded);
		gw_chash_destroy(set);
		free(bytes);
	}
}

/* Magic, format and length come before the checksum, and have errors of their own. */
static bool alteration_told(size_t at, int status)
{
	if (at < 8)
		return status == GW_CHASH_ERR_MAGIC;
	if (at < 12)
		return status == GW_CHASH_ERR_FORMAT;
	if (at >= 56 && at < 64)
		return status == GW_CHASH_ERR_TRUNCATED;
	return status == (at >= 76 && at < 80 ? GW_CHASH_ERR_CONTENT : GW_CHASH_ERR_CHECKSUM);
}

static void every_altered_byte_is_told(void)
{
	for (int a = 0; a < GW_CHASH_ALGORITHMS; a++) {
		struct gw_chash *set = set_with_history(a), *loaded = NULL;
		size_t size;
		uint8_t *bytes = bytes_of(set, &size);

		for (size_t at = 0; at < size; at++) {
			int status;

			bytes[at] ^= 1 << (at % 8);
			status = gw_chash_load(bytes, size, &loaded);
			CU_ASSERT_PTR_NULL(loaded);
			CU_ASSERT(alteration_told(at, status));
			bytes[at] ^= 1 << (at % 8);
		}
		gw_chash_destroy(set);
		free(bytes);
	}
}

/*
 * Upper bytes of points per weight, of the capacity and of weights: millions of points or buckets
 * are legal, and take their time.
 */
static bool asks_for_millions(const uint8_t *bytes, size_t at)
{
	uint32_t members;
	size_t member = 80;

	memcpy(&members, bytes + 64, sizeof(members));
	for (uint32_t i = 0; i < members; i++) {
		if (at == member + 2 || at == member + 3)
			return true;
		member += 8 + bytes[member + 4] + bytes[member + 6];
	}
	return at == 22 || at == 23 || at == 26 || at == 27;
}

/* With the checksum made right again, what contradicts itself is still refused. */
static void altered_content_with_a_right_checksum_is_refused(void)
{
	for (int a = 0; a < GW_CHASH_ALGORITHMS; a++) {
		struct gw_chash *set = set_with_history(a);
		size_t size, version = 48;
		uint8_t *bytes = bytes_of(set, &size);

		for (size_t at = 12; at < size - 8; at++) {
			struct gw_chash *loaded = NULL;
			XXH64_hash_t checksum;
			int status;

			/* Any version is a right one, and the length is looked at before. */
			if (asks_for_millions(bytes, at))
				continue;
			if (at >= version && at < version + 16)
				continue;
			bytes[at] ^= 1 << (at % 8);
			checksum = XXH3_64bits(bytes, size - 8);
			memcpy(bytes + size - 8, &checksum, 8);
			status = gw_chash_load(bytes, size, &loaded);
			CU_ASSERT_EQUAL(status, GW_CHASH_ERR_CONTENT);
			CU_ASSERT_PTR_NULL(loaded);
			gw_chash_destroy(loaded);
			bytes[at] ^= 1 << (at % 8);
		}
		gw_chash_destroy(set);
		free(bytes);
	}
}

static void trailing_bytes_are_refused(void)
{
	struct gw_chash *set = set_with_history(GW_CHASH_MAGLEV), *loaded = NULL;
	size_t size;
	uint8_t *bytes = bytes_of(set, &size), *longer = calloc(1, size + 1);

	memcpy(longer, bytes, size);
	CU_ASSERT_EQUAL(gw_chash_load(longer, size + 1, &loaded), GW_CHASH_ERR_TRUNCATED);
	CU_ASSERT_EQUAL(gw_chash_load(NULL, 0, &loaded), GW_CHASH_ERR_ARGUMENT);
	gw_chash_destroy(set);
	free(longer);
	free(bytes);
}

/* The bytes of one small view, as format 1 has them: they must never change. */
static void format_one_stays_as_it_is(void)
{
	struct gw_chash *set = sets_new(GW_CHASH_JUMP);
	static const uint8_t head[] = {
		'g', 'w', 'c', 'h', 'a', 's', 'h', 0, 1, 0, 0, 0, 4, 0, 0, 0};
	/* weight 2, id of 1 byte, zone of 1 byte, "a", "z"; its buckets 0 and 1; no history */
	static const uint8_t body[] = {2, 0, 0, 0, 1, 0, 1, 0, 'a', 'z', 0, 0, 0, 0, 1, 0, 0, 0};
	size_t size;
	uint8_t *bytes;

	CU_ASSERT_EQUAL(gw_chash_add_node(set, "a", 2, "z"), 0);
	bytes = bytes_of(set, &size);
	CU_ASSERT_EQUAL_FATAL(size, 80 + sizeof(body) + 16 + 8);
	CU_ASSERT_EQUAL(memcmp(bytes, head, sizeof(head)), 0);
	CU_ASSERT_EQUAL(bytes[48], 1);
	CU_ASSERT_EQUAL(bytes[56], size);
	CU_ASSERT_EQUAL(bytes[64], 1);
	CU_ASSERT_EQUAL(bytes[68], 2);
	CU_ASSERT_EQUAL(bytes[72], 0);
	CU_ASSERT_EQUAL(memcmp(bytes + 80, body, sizeof(body)), 0);
	free(bytes);
	gw_chash_destroy(set);
}

static const struct gw_test tests[] = {
	GW_TEST(loaded_view_equals_the_one_serialised),
	GW_TEST(loaded_view_goes_on_changing_as_the_original_does),
	GW_TEST(empty_view_survives_the_journey),
	GW_TEST(every_truncation_is_told),
	GW_TEST(every_altered_byte_is_told),
	GW_TEST(altered_content_with_a_right_checksum_is_refused),
	GW_TEST(trailing_bytes_are_refused),
	GW_TEST(format_one_stays_as_it_is),
};

GW_SUITE("chash_serial", tests)
