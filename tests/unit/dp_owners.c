/* SPDX-License-Identifier: BSD-2-Clause */
/* Whose a number's traffic is, as numbers change hands. */
#include "dataplane/stats_owners.h"
#include "suite.h"

#include <string.h>

static struct gw_stats_owners owners;

static struct gw_backend backend_make(uint16_t pool, uint8_t last, uint8_t state)
{
	struct gw_backend backend = {.pool = pool, .state = state};

	((uint8_t *)&backend.outer_destination)[15] = last;
	return backend;
}

static struct gw_traffic raw(uint64_t packets)
{
	return (struct gw_traffic){
		.packets = packets, .bytes = packets * 100, .flows_new = packets / 10};
}

static void expect_backend(const struct gw_backend *backend, uint64_t seen, uint64_t packets)
{
	struct gw_traffic got = gw_stats_owner_backend(&owners, 3, backend, raw(seen));

	CU_ASSERT_EQUAL(got.packets, packets);
	CU_ASSERT_EQUAL(got.bytes, packets * 100);
	CU_ASSERT_EQUAL(got.flows_new, packets / 10);
}

static void a_backend_counts_from_its_first_packet(void)
{
	const struct gw_backend one = backend_make(1, 1, GW_BACKEND_ACTIVE);

	gw_stats_owners_fit(&owners, 8);
	expect_backend(&one, 20, 20);
	expect_backend(&one, 50, 50);
	gw_stats_owners_free(&owners);
}

static void a_flapping_backend_and_one_that_comes_back_go_on(void)
{
	struct gw_backend one = backend_make(1, 1, GW_BACKEND_ACTIVE);

	gw_stats_owners_fit(&owners, 8);
	expect_backend(&one, 100, 100);
	one.state = GW_BACKEND_DOWN;
	expect_backend(&one, 110, 110);
	one.state = GW_BACKEND_FREE;
	expect_backend(&one, 110, 110);
	one.state = GW_BACKEND_ACTIVE;
	expect_backend(&one, 120, 120);
	gw_stats_owners_free(&owners);
}

static void a_new_owner_begins_with_nothing_of_the_former(void)
{
	struct gw_backend one = backend_make(1, 1, GW_BACKEND_ACTIVE);
	const struct gw_backend other = backend_make(1, 2, GW_BACKEND_ACTIVE);
	const struct gw_backend elsewhere = backend_make(2, 2, GW_BACKEND_ACTIVE);

	gw_stats_owners_fit(&owners, 4);
	expect_backend(&one, 1000, 1000);
	one.state = GW_BACKEND_FREE;
	expect_backend(&one, 1200, 1200);
	gw_stats_owners_fit(&owners, 4000); /* others came; what is known stays */
	expect_backend(&other, 1230, 30);
	expect_backend(&other, 1300, 100);
	expect_backend(&elsewhere, 1310, 10);
	gw_stats_owners_free(&owners);
}

static void a_service_begins_anew_whenever_it_comes(void)
{
	gw_stats_owners_fit(&owners, 8);
	CU_ASSERT_EQUAL(gw_stats_owner_service(&owners, 0, true, raw(40)).packets, 40);
	CU_ASSERT_EQUAL(gw_stats_owner_service(&owners, 0, true, raw(60)).packets, 60);
	gw_stats_owner_service(&owners, 0, false, raw(70));
	CU_ASSERT_EQUAL(gw_stats_owner_service(&owners, 0, true, raw(100)).packets, 30);
	gw_stats_owners_free(&owners);
}

static void numbers_beyond_the_room_are_as_counted(void)
{
	const struct gw_backend one = backend_make(1, 1, GW_BACKEND_ACTIVE);

	expect_backend(&one, 5, 5);
	CU_ASSERT_EQUAL(gw_stats_owner_service(&owners, 9, true, raw(7)).packets, 7);
}

static const struct gw_test tests[] = {
	GW_TEST(a_backend_counts_from_its_first_packet),
	GW_TEST(a_flapping_backend_and_one_that_comes_back_go_on),
	GW_TEST(a_new_owner_begins_with_nothing_of_the_former),
	GW_TEST(a_service_begins_anew_whenever_it_comes),
	GW_TEST(numbers_beyond_the_room_are_as_counted),
};

GW_SUITE("dp_owners", tests)
