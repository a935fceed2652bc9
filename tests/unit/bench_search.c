/* SPDX-License-Identifier: BSD-2-Clause */
/* The search for the highest rate without loss, against devices that forward up to a rate. */
#include "suite.h"
#include "tools/bench/link/search.h"

#include <string.h>

#define HIGHEST 1000000
#define SECONDS 2
#define TRIALS	32

/* A device that forwards so many frames a second, and drops what is above. */
struct device {
	uint64_t capacity;
	uint64_t glitch; /* rate at which it loses frames once without reason; 0: none */
};

struct record {
	uint64_t rate[TRIALS];
	uint32_t count;
	uint64_t passed;
};

static struct record run(struct device device, struct bench_search_rule rule)
{
	struct record record = {};
	struct bench_search search;

	bench_search_begin(&search, &rule);
	while (search.rate && record.count < TRIALS) {
		uint64_t over = search.rate > device.capacity ? search.rate - device.capacity : 0;

		record.rate[record.count++] = search.rate;
		if (search.rate == device.glitch) {
			over++;
			device.glitch = 0;
		}
		bench_search_trial(&search, search.rate * SECONDS, over * SECONDS);
	}
	record.passed = search.passed;
	return record;
}

static bool tried(const struct record *record, const uint64_t *rates, uint32_t count)
{
	return record->count == count && !memcmp(record->rate, rates, count * sizeof(*rates));
}

static void a_device_that_never_loses_is_done_after_one_trial(void)
{
	struct record record =
		run((struct device){HIGHEST}, (struct bench_search_rule){HIGHEST, 0.01});

	CU_ASSERT_EQUAL(record.count, 1);
	CU_ASSERT_EQUAL(record.passed, HIGHEST);
}

static void the_search_halves_until_the_distance_is_the_resolution(void)
{
	/* 1 % of a million is 10,000; between 718,750 and 734,375 there are 15,625, then 7,813. */
	static const uint64_t rates[] = {
		1000000, 500000, 750000, 625000, 687500, 718750, 734375, 726562};
	struct record record =
		run((struct device){730000}, (struct bench_search_rule){HIGHEST, 0.01});

	CU_ASSERT_TRUE(tried(&record, rates, 8));
	CU_ASSERT_EQUAL(record.passed, 726562);
}

static void the_result_is_never_above_what_the_device_can(void)
{
	for (uint64_t capacity = 20000; capacity <= HIGHEST; capacity += 7919) {
		struct record record =
			run((struct device){capacity}, (struct bench_search_rule){HIGHEST, 0.01});

		CU_ASSERT_TRUE(record.passed <= capacity);
		CU_ASSERT_TRUE(record.passed + HIGHEST / 100 >= capacity);
	}
}

static void a_device_that_always_loses_has_no_rate(void)
{
	static const uint64_t rates[] = {
		1000000, 500000, 250000, 125000, 62500, 31250, 15625, 7812};
	struct record record = run((struct device){0}, (struct bench_search_rule){HIGHEST, 0.01});

	CU_ASSERT_TRUE(tried(&record, rates, 8));
	CU_ASSERT_EQUAL(record.passed, 0);
}

static void a_loss_counts_at_once_unless_repeats_are_asked_for(void)
{
	struct device device = {730000, .glitch = 500000};
	struct record record = run(device, (struct bench_search_rule){HIGHEST, 0.01});

	CU_ASSERT_TRUE(record.passed < 500000);
}

static void a_repeated_trial_outweighs_one_disturbance(void)
{
	/* Above the capacity each rate loses twice. */
	static const uint64_t rates[] = {1000000, 1000000, 500000, 500000, 750000, 750000, 625000,
		687500, 718750, 734375, 734375, 726562};
	struct device device = {730000, .glitch = 500000};
	struct record record = run(device, (struct bench_search_rule){HIGHEST, 0.01, .repeats = 1});

	CU_ASSERT_TRUE(tried(&record, rates, 12));
	CU_ASSERT_EQUAL(record.passed, 726562);
}

static void without_tolerance_one_frame_is_a_loss(void)
{
	const struct bench_search_rule strict = {HIGHEST, 0.01};

	CU_ASSERT_TRUE(bench_search_passes(&strict, 1000000000, 0));
	CU_ASSERT_FALSE(bench_search_passes(&strict, 1000000000, 1));
}

static void a_tolerance_is_a_share_of_the_frames(void)
{
	const struct bench_search_rule rule = {HIGHEST, 0.01, .tolerance = 0.001};

	CU_ASSERT_TRUE(bench_search_passes(&rule, 3000, 3));
	CU_ASSERT_FALSE(bench_search_passes(&rule, 3000, 4));
}

static void a_trial_that_sent_nothing_does_not_pass(void)
{
	const struct bench_search_rule rule = {HIGHEST, 0.01};
	struct bench_search search;

	bench_search_begin(&search, &rule);
	bench_search_trial(&search, 0, 0);
	CU_ASSERT_EQUAL(search.passed, 0);
	CU_ASSERT_EQUAL(search.rate, HIGHEST / 2);
}

static void a_search_that_is_over_takes_no_more_trials(void)
{
	const struct bench_search_rule rule = {HIGHEST, 0.01};
	struct bench_search search;

	bench_search_begin(&search, &rule);
	bench_search_trial(&search, HIGHEST, 0);
	bench_search_trial(&search, HIGHEST, HIGHEST);
	CU_ASSERT_EQUAL(search.passed, HIGHEST);
	CU_ASSERT_EQUAL(search.trials, 1);
}

/* The figures that every vendor prints: 14.88 Mpps at 10 Gbit/s. */
static void the_line_rate_counts_preamble_and_gap(void)
{
	CU_ASSERT_EQUAL(bench_line_rate(10000, 64), 14880952);
	CU_ASSERT_EQUAL(bench_line_rate(10000, 1518), 812743);
	CU_ASSERT_EQUAL(bench_line_rate(100000, 64), 148809523);
	CU_ASSERT_EQUAL(bench_line_rate(1000, 512), 234962);
	CU_ASSERT_EQUAL(bench_line_rate(0, 64), 0);
}

static const struct gw_test tests[] = {
	GW_TEST(a_device_that_never_loses_is_done_after_one_trial),
	GW_TEST(the_search_halves_until_the_distance_is_the_resolution),
	GW_TEST(the_result_is_never_above_what_the_device_can),
	GW_TEST(a_device_that_always_loses_has_no_rate),
	GW_TEST(a_loss_counts_at_once_unless_repeats_are_asked_for),
	GW_TEST(a_repeated_trial_outweighs_one_disturbance),
	GW_TEST(without_tolerance_one_frame_is_a_loss),
	GW_TEST(a_tolerance_is_a_share_of_the_frames),
	GW_TEST(a_trial_that_sent_nothing_does_not_pass),
	GW_TEST(a_search_that_is_over_takes_no_more_trials),
	GW_TEST(the_line_rate_counts_preamble_and_gap),
};

GW_SUITE("bench_search", tests)
