/* SPDX-License-Identifier: BSD-2-Clause */
#include "control/events.h"

#include "base/log.h"
#include "suite.h"

#include <string.h>

static json_int_t member(const json_t *object, const char *name)
{
	return json_integer_value(json_object_get(object, name));
}

static const json_t *event_at(const json_t *answer, size_t position)
{
	return json_array_get(json_object_get(answer, "events"), position);
}

static size_t count_of(const json_t *answer)
{
	return json_array_size(json_object_get(answer, "events"));
}

static void add_many(struct gw_events *events, int count)
{
	for (int i = 0; i < count; i++)
		gw_events_add(events, "health", "web/b1", "up", "down", "number %d", i + 1);
}

static void events_are_numbered_from_one_in_order(void)
{
	struct gw_events *events = gw_events_new();
	json_t *answer;

	gw_events_add(events, "health", "web/b1", "up", "down", "http %d, 3 of 3", 503);
	gw_events_warn(events, "pool", "web", "serving", "empty", "no backend");
	answer = gw_events_json(events, 0, 100);
	CU_ASSERT_EQUAL(count_of(answer), 2);
	CU_ASSERT_EQUAL(member(event_at(answer, 0), "number"), 1);
	CU_ASSERT_STRING_EQUAL(
		json_string_value(json_object_get(event_at(answer, 0), "why")), "http 503, 3 of 3");
	CU_ASSERT_STRING_EQUAL(
		json_string_value(json_object_get(event_at(answer, 1), "subject")), "web");
	CU_ASSERT_EQUAL(member(answer, "next"), 3);
	CU_ASSERT_EQUAL(member(answer, "lost"), 0);
	json_decref(answer);
	gw_events_free(events);
}

static void asking_again_with_next_gives_only_what_is_new(void)
{
	struct gw_events *events = gw_events_new();
	json_t *answer;

	add_many(events, 5);
	answer = gw_events_json(events, 6, 100);
	CU_ASSERT_EQUAL(count_of(answer), 0);
	CU_ASSERT_EQUAL(member(answer, "next"), 6);
	json_decref(answer);
	add_many(events, 1);
	answer = gw_events_json(events, 6, 100);
	CU_ASSERT_EQUAL(count_of(answer), 1);
	CU_ASSERT_EQUAL(member(event_at(answer, 0), "number"), 6);
	json_decref(answer);
	gw_events_free(events);
}

static void a_limit_cuts_and_next_goes_on_behind_it(void)
{
	struct gw_events *events = gw_events_new();
	json_t *answer;

	add_many(events, 10);
	answer = gw_events_json(events, 3, 4);
	CU_ASSERT_EQUAL(count_of(answer), 4);
	CU_ASSERT_EQUAL(member(event_at(answer, 0), "number"), 3);
	CU_ASSERT_EQUAL(member(answer, "next"), 7);
	json_decref(answer);
	gw_events_free(events);
}

static void what_left_the_ring_is_counted_as_lost(void)
{
	struct gw_events *events = gw_events_new();
	json_t *answer;

	add_many(events, GW_EVENTS_KEPT + 10);
	answer = gw_events_json(events, 5, 1);
	CU_ASSERT_EQUAL(member(event_at(answer, 0), "number"), 11);
	CU_ASSERT_EQUAL(member(answer, "lost"), 6);
	CU_ASSERT_STRING_EQUAL(
		json_string_value(json_object_get(event_at(answer, 0), "why")), "number 11");
	json_decref(answer);
	gw_events_free(events);
}

static void a_number_of_an_earlier_run_is_answered_with_where_this_one_is(void)
{
	struct gw_events *events = gw_events_new();
	json_t *answer;

	add_many(events, 2);
	answer = gw_events_json(events, 900, 100);
	CU_ASSERT_EQUAL(count_of(answer), 0);
	CU_ASSERT_EQUAL(member(answer, "next"), 3);
	json_decref(answer);
	gw_events_free(events);
}

/* A cause may quote what came over the network. */
static void text_that_is_no_utf8_does_not_spoil_the_answer(void)
{
	struct gw_events *events = gw_events_new();
	json_t *answer;

	gw_events_add(events, "override", "web/b1", "", "drain", "by root: %s", "caf\xe9");
	add_many(events, 1);
	answer = gw_events_json(events, 0, 100);
	CU_ASSERT_PTR_NOT_NULL_FATAL(answer);
	CU_ASSERT_EQUAL(count_of(answer), 2);
	CU_ASSERT_STRING_EQUAL(
		json_string_value(json_object_get(event_at(answer, 0), "why")), "by root: caf?");
	json_decref(answer);
	gw_events_free(events);
}

static void times_are_utc_with_milliseconds(void)
{
	char text[32];

	CU_ASSERT_STRING_EQUAL(gw_time_format(0, text), "1970-01-01T00:00:00.000Z");
	/* 2^31 seconds: 2038-01-19 03:14:08 UTC */
	CU_ASSERT_STRING_EQUAL(gw_time_format(2147483648007, text), "2038-01-19T03:14:08.007Z");
}

static const struct gw_test tests[] = {
	GW_TEST(events_are_numbered_from_one_in_order),
	GW_TEST(asking_again_with_next_gives_only_what_is_new),
	GW_TEST(a_limit_cuts_and_next_goes_on_behind_it),
	GW_TEST(what_left_the_ring_is_counted_as_lost),
	GW_TEST(a_number_of_an_earlier_run_is_answered_with_where_this_one_is),
	GW_TEST(text_that_is_no_utf8_does_not_spoil_the_answer),
	GW_TEST(times_are_utc_with_milliseconds),
};

int main(int argc, char **argv)
{
	gw_log_open("test_events", GW_LOG_ERROR);
	return gw_suite_run("events", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
