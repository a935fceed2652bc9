/* SPDX-License-Identifier: BSD-2-Clause */
/* Latencies in buckets: what is read back against what was put in. */
#include "suite.h"
#include "tools/bench/ends/latency.h"

static struct bench_latency latency;

static void start(void)
{
	latency = (struct bench_latency){};
}

static void small_values_are_kept_exactly(void)
{
	start();
	for (uint64_t i = 1; i <= 200; i++)
		bench_latency_add(&latency, i);
	CU_ASSERT_EQUAL(bench_latency_at(&latency, 0.5), 100);
	CU_ASSERT_EQUAL(bench_latency_at(&latency, 0.99), 198);
	CU_ASSERT_EQUAL(bench_latency_at(&latency, 0.999), 200);
	CU_ASSERT_EQUAL(bench_latency_at(&latency, 0), 1);
}

/* 2^19 ≤ 1,000,000 < 2^20: buckets of 4,096. 244 of them are below it, and 245 × 4,096 − 1 is the
 * last value of its own. */
static void a_value_reads_as_the_end_of_its_bucket(void)
{
	start();
	bench_latency_add(&latency, 1000000);
	bench_latency_add(&latency, 3000000);
	CU_ASSERT_EQUAL(bench_latency_at(&latency, 0.5), 1003519);
}

static void no_percentile_is_above_the_longest(void)
{
	start();
	bench_latency_add(&latency, 1000000);
	CU_ASSERT_EQUAL(bench_latency_at(&latency, 0.5), 1000000);
	CU_ASSERT_EQUAL(bench_latency_at(&latency, 1), 1000000);
}

static void the_error_is_at_most_one_part_in_128_upwards(void)
{
	for (uint64_t value = 1; value < UINT64_C(1) << BENCH_LATENCY_TOP;
		value += value / 97 + 1) {
		uint64_t read;

		start();
		bench_latency_add(&latency, value);
		bench_latency_add(&latency, UINT64_MAX);
		read = bench_latency_at(&latency, 0.5);
		CU_ASSERT_TRUE_FATAL(read >= value && read - value <= value / 128);
	}
}

static void one_outlier_in_a_thousand_shows_only_beyond_p99_9(void)
{
	start();
	for (int i = 0; i < 999; i++)
		bench_latency_add(&latency, 10);
	bench_latency_add(&latency, 5000000);
	CU_ASSERT_EQUAL(bench_latency_at(&latency, 0.999), 10);
	CU_ASSERT_EQUAL(bench_latency_at(&latency, 1), 5000000);
	CU_ASSERT_EQUAL(latency.longest, 5000000);
}

static void what_is_longer_than_the_last_bucket_is_still_the_longest(void)
{
	start();
	bench_latency_add(&latency, UINT64_C(1) << 50);
	CU_ASSERT_EQUAL(latency.longest, UINT64_C(1) << 50);
	CU_ASSERT_EQUAL(latency.bucket[BENCH_LATENCY_BUCKETS - 1], 1);
}

static void nothing_measured_reads_as_zero(void)
{
	start();
	CU_ASSERT_EQUAL(bench_latency_at(&latency, 0.99), 0);
}

static const struct gw_test tests[] = {
	GW_TEST(small_values_are_kept_exactly),
	GW_TEST(a_value_reads_as_the_end_of_its_bucket),
	GW_TEST(no_percentile_is_above_the_longest),
	GW_TEST(the_error_is_at_most_one_part_in_128_upwards),
	GW_TEST(one_outlier_in_a_thousand_shows_only_beyond_p99_9),
	GW_TEST(what_is_longer_than_the_last_bucket_is_still_the_longest),
	GW_TEST(nothing_measured_reads_as_zero),
};

GW_SUITE("bench_latency", tests)
