/* SPDX-License-Identifier: BSD-2-Clause */
#include "control/health.h"

#include "suite.h"

#include <stdio.h>
#include <string.h>

static const struct gw_health_rules rules = {.rise = 2, .fall = 3};
static const struct gw_health_rules presumed = {.rise = 2, .fall = 3, .presumed = true};
static struct gw_health_change change;

/* 's' feeds a success, 'f' a failure; returns the number of transitions. */
static int feed(
	struct gw_health_track *track, const struct gw_health_rules *by, const char *results)
{
	int transitions = 0;

	for (; *results; results++)
		transitions += gw_health_feed(track, by, *results == 's',
			*results == 's' ? "http 200" : "http 503", &change);
	return transitions;
}

static void up_backend_goes_down_at_the_third_failure_in_a_row(void)
{
	struct gw_health_track track = {.health = GW_HEALTH_UP};

	CU_ASSERT_EQUAL(feed(&track, &rules, "ff"), 0);
	CU_ASSERT_EQUAL(track.health, GW_HEALTH_UP);
	CU_ASSERT_EQUAL(feed(&track, &rules, "f"), 1);
	CU_ASSERT_EQUAL(track.health, GW_HEALTH_DOWN);
	CU_ASSERT_EQUAL(change.from, GW_HEALTH_UP);
	CU_ASSERT_EQUAL(change.to, GW_HEALTH_DOWN);
	CU_ASSERT_STRING_EQUAL(change.cause, "http 503, 3 of 3");
}

static void one_success_starts_the_count_of_failures_anew(void)
{
	struct gw_health_track track = {.health = GW_HEALTH_UP};

	CU_ASSERT_EQUAL(feed(&track, &rules, "ffsffsff"), 0);
	CU_ASSERT_EQUAL(track.health, GW_HEALTH_UP);
	CU_ASSERT_EQUAL(feed(&track, &rules, "f"), 1);
}

static void down_backend_comes_up_at_the_second_success_in_a_row(void)
{
	struct gw_health_track track = {.health = GW_HEALTH_DOWN};

	CU_ASSERT_EQUAL(feed(&track, &rules, "sfsf"), 0);
	CU_ASSERT_EQUAL(track.health, GW_HEALTH_DOWN);
	CU_ASSERT_EQUAL(feed(&track, &rules, "ss"), 1);
	CU_ASSERT_EQUAL(track.health, GW_HEALTH_UP);
	CU_ASSERT_STRING_EQUAL(change.cause, "http 200, 2 of 2");
}

static void a_state_is_told_once_not_at_every_result(void)
{
	struct gw_health_track track = {.health = GW_HEALTH_UP};

	CU_ASSERT_EQUAL(feed(&track, &rules, "ffffffff"), 1);
	CU_ASSERT_EQUAL(feed(&track, &rules, "ssssssss"), 1);
}

static void unknown_backend_that_joins_a_running_pool_enters_by_rise(void)
{
	struct gw_health_track track = {.health = GW_HEALTH_UNKNOWN};

	CU_ASSERT_EQUAL(feed(&track, &rules, "s"), 0);
	CU_ASSERT_EQUAL(track.health, GW_HEALTH_UNKNOWN);
	CU_ASSERT_EQUAL(feed(&track, &rules, "s"), 1);
	CU_ASSERT_EQUAL(track.health, GW_HEALTH_UP);
	CU_ASSERT_EQUAL(change.from, GW_HEALTH_UNKNOWN);
}

static void unknown_backend_that_serves_already_is_judged_by_its_first_result(void)
{
	struct gw_health_track good = {.health = GW_HEALTH_UNKNOWN};
	struct gw_health_track bad = {.health = GW_HEALTH_UNKNOWN};

	CU_ASSERT_EQUAL(feed(&good, &presumed, "s"), 1);
	CU_ASSERT_EQUAL(good.health, GW_HEALTH_UP);
	CU_ASSERT_STRING_EQUAL(change.cause, "http 200, 1 of 1");
	CU_ASSERT_EQUAL(feed(&bad, &presumed, "f"), 1);
	CU_ASSERT_EQUAL(bad.health, GW_HEALTH_DOWN);
}

static void presumption_ends_with_the_first_judgement(void)
{
	struct gw_health_track track = {.health = GW_HEALTH_UNKNOWN};

	feed(&track, &presumed, "s");
	CU_ASSERT_EQUAL(feed(&track, &presumed, "ff"), 0);
	CU_ASSERT_EQUAL(track.health, GW_HEALTH_UP);
}

static void rise_and_fall_of_one_follow_each_result(void)
{
	const struct gw_health_rules quick = {.rise = 1, .fall = 1};
	struct gw_health_track track = {.health = GW_HEALTH_UP};

	CU_ASSERT_EQUAL(feed(&track, &quick, "fsfsf"), 5);
	CU_ASSERT_EQUAL(track.health, GW_HEALTH_DOWN);
}

static void the_longest_streak_does_not_wrap(void)
{
	const struct gw_health_rules patient = {.rise = UINT16_MAX, .fall = 1};
	struct gw_health_track track = {.health = GW_HEALTH_DOWN};

	for (unsigned int i = 0; i < UINT16_MAX - 1u; i++)
		CU_ASSERT_FALSE_FATAL(gw_health_feed(&track, &patient, true, "", &change));
	CU_ASSERT_TRUE(gw_health_feed(&track, &patient, true, "", &change));
	for (unsigned int i = 0; i < 10; i++)
		CU_ASSERT_FALSE(gw_health_feed(&track, &patient, true, "", &change));
	CU_ASSERT_EQUAL(track.streak, UINT16_MAX);
}

static void a_long_cause_is_cut_and_keeps_its_count(void)
{
	struct gw_health_track track = {.health = GW_HEALTH_UP};
	char text[400];

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = 0;
	for (int i = 0; i < 3; i++)
		gw_health_feed(&track, &rules, false, text, &change);
	CU_ASSERT_PTR_NOT_NULL(strstr(change.cause, "x, 3 of 3"));
}

static void what_comes_next_is_said(void)
{
	static const struct {
		struct gw_health_track track;
		bool presumed;
		const char *text;
	} cases[] = {
		{{GW_HEALTH_UP, true, 9}, false, "0 of 3 failures; 3 more in a row take it down"},
		{{GW_HEALTH_UP, false, 2}, false,
			"2 of 3 failures; the next failure takes it down"},
		{{GW_HEALTH_DOWN, false, 7}, false,
			"0 of 2 successes; 2 more in a row bring it up"},
		{{GW_HEALTH_DOWN, true, 1}, false,
			"1 of 2 successes; the next success brings it up"},
		{{GW_HEALTH_UNKNOWN, true, 1}, false,
			"1 of 2 successes; the next success brings it up"},
		{{GW_HEALTH_UNKNOWN, false, 0}, true, "not judged yet; the next answer decides"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct gw_health_rules by = {.rise = 2, .fall = 3, .presumed = cases[i].presumed};
		char text[GW_HEALTH_CAUSE];

		CU_ASSERT_STRING_EQUAL(gw_health_next(&cases[i].track, &by, text), cases[i].text);
	}
}

static const struct gw_test tests[] = {
	GW_TEST(what_comes_next_is_said),
	GW_TEST(up_backend_goes_down_at_the_third_failure_in_a_row),
	GW_TEST(one_success_starts_the_count_of_failures_anew),
	GW_TEST(down_backend_comes_up_at_the_second_success_in_a_row),
	GW_TEST(a_state_is_told_once_not_at_every_result),
	GW_TEST(unknown_backend_that_joins_a_running_pool_enters_by_rise),
	GW_TEST(unknown_backend_that_serves_already_is_judged_by_its_first_result),
	GW_TEST(presumption_ends_with_the_first_judgement),
	GW_TEST(rise_and_fall_of_one_follow_each_result),
	GW_TEST(the_longest_streak_does_not_wrap),
	GW_TEST(a_long_cause_is_cut_and_keeps_its_count),
};

GW_SUITE("health", tests)
