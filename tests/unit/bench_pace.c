/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Latencies by the schedule. Values are worked out by hand; a tick is a microsecond, and a frame is
 * due in each unless said otherwise.
 */
#include "suite.h"
#include "tools/bench/ends/pace.h"

#define HZ	 1000000u
#define WINDOW	 2048u
#define STALL	 500000u /* the device stands still from here … */
#define STALLED	 510000u /* … to here */
#define TRIAL	 1000000u
#define NO_SHARE 1u

static struct bench_latency latency;
static struct bench_pace pace;

static void start(uint64_t hz, uint64_t rate)
{
	latency = (struct bench_latency){};
	bench_pace_begin(&pace, 0, hz, rate);
}

/* A device that answers within a tick, but for the stall; all that is on its way comes at once. */
static void run_through_a_stall(void)
{
	static uint64_t since[WINDOW];
	uint64_t away = 0;

	for (uint64_t now = 1; now <= TRIAL + 1; now++) {
		uint64_t due;

		if (now < STALL || now >= STALLED) {
			for (uint64_t i = 0; i < away; i++)
				bench_latency_add(&latency, now - since[i]);
			away = 0;
		}
		due = now <= TRIAL ? bench_pace_due(&pace, now) : 0;
		if (due > WINDOW - away)
			due = WINDOW - away;
		for (uint64_t i = 0; i < due; i++)
			since[away + i] = bench_pace_time(&pace, i, now);
		bench_pace_sent(&pace, due, now);
		away += due;
	}
}

/*
 * The frame due at 499,999 is the first to wait: it comes back at 510,000, after 10,001. 2,048 fit
 * into the window, those due until 502,046; the others go at 510,000, :001, :002 (2,048 each, due
 * until 508,190) and :003 (1,813), each back a tick later. So the 10,005 frames due from 499,999 to
 * 510,003 take each time from 1 to 10,001 once, and 7,954, 5,907, 3,860 and 1,813 twice. The other
 * 989,995 take 1.
 *
 * p99 is the 990,000th: 989,996 take 1, then come 2, 3, 4, 5. p99.5, the 5,001st from above: 4,095
 * are above 5,907, two are it, the 904th of the rest is 5,003, which reads as the end of its bucket
 * of 32, 5,023. p99.9, the 1,001st: 9,001, in a bucket of 64 that ends at 9,023.
 *
 * Counted from when they went, the 7,957 that waited for the window would all have taken 1.
 */
static void a_stall_of_10_ms_is_in_the_latency_of_all_that_were_due_in_it(void)
{
	start(HZ, 1000000);
	run_through_a_stall();
	CU_ASSERT_EQUAL(latency.count, 1000000);
	CU_ASSERT_EQUAL(latency.longest, 10001);
	CU_ASSERT_EQUAL(bench_latency_at(&latency, 0.5), 1);
	CU_ASSERT_EQUAL(bench_latency_at(&latency, 0.99), 5);
	CU_ASSERT_EQUAL(bench_latency_at(&latency, 0.995), 5023);
	CU_ASSERT_EQUAL(bench_latency_at(&latency, 0.999), 9023);
}

/* Of the last 1,813, which go at 510,003, those due before 509,903: 1,712; and 3 × 2,048. */
static void frames_that_went_100_us_after_they_were_due_are_counted_as_late(void)
{
	start(HZ, 1000000);
	run_through_a_stall();
	CU_ASSERT_EQUAL(pace.late, 7856);
	CU_ASSERT_EQUAL(pace.never, 0);
	CU_ASSERT_EQUAL(pace.done, 1000000);
}

static void a_frame_is_late_from_one_tick_beyond_the_grace(void)
{
	start(HZ, 1000);
	CU_ASSERT_EQUAL(bench_pace_due(&pace, 999), 0);
	CU_ASSERT_EQUAL(bench_pace_due(&pace, 1000), 1);
	bench_pace_sent(&pace, 1, 1100);
	CU_ASSERT_EQUAL(pace.late, 0);
	bench_pace_sent(&pace, 1, 2101);
	CU_ASSERT_EQUAL(pace.late, 1);
}

/* 100 went; those due at 101 to 1,100 did not, and have waited 999 to 0. */
static void frames_given_up_count_with_the_time_they_waited(void)
{
	start(HZ, 1000000);
	bench_pace_sent(&pace, 100, 100);
	CU_ASSERT_EQUAL(bench_pace_due(&pace, 1100), 1000);
	bench_pace_give_up(&pace, 1000, NO_SHARE, 1100, &latency);
	CU_ASSERT_EQUAL(latency.count, 1000);
	CU_ASSERT_EQUAL(latency.longest, 999);
	CU_ASSERT_EQUAL(pace.never, 1000);
	CU_ASSERT_EQUAL(pace.late, 0);
	CU_ASSERT_EQUAL(bench_pace_due(&pace, 1100), 0);
	CU_ASSERT_EQUAL(bench_pace_time(&pace, 0, 5000), 1101);
}

/* The frames 112, 128 … 1,088 of 100 to 1,099; frame 112 was due at 113. */
static void of_frames_given_up_as_large_a_share_counts_as_of_the_others(void)
{
	start(HZ, 1000000);
	bench_pace_sent(&pace, 100, 100);
	bench_pace_give_up(&pace, 1000, 16, 1100, &latency);
	CU_ASSERT_EQUAL(latency.count, 62);
	CU_ASSERT_EQUAL(latency.longest, 987);
}

/* 3,600 s of 150 million a second. */
static void an_hour_at_line_rate_is_kept_to_the_frame(void)
{
	const uint64_t hz = 2100000000, hour = 3600 * hz;

	start(hz, 150000000);
	CU_ASSERT_EQUAL(bench_pace_due(&pace, hour), UINT64_C(540000000000));
	bench_pace_sent(&pace, UINT64_C(540000000000) - 1, hour);
	CU_ASSERT_EQUAL(bench_pace_time(&pace, 0, 2 * hour), hour);
}

/* 10/3 ticks apart: frame 0 is due in tick 4, and its latency is never below 0. */
static void no_frame_counts_from_after_it_went(void)
{
	start(10, 3);
	CU_ASSERT_EQUAL(bench_pace_due(&pace, 3), 0);
	CU_ASSERT_EQUAL(bench_pace_due(&pace, 4), 1);
	CU_ASSERT_EQUAL(bench_pace_time(&pace, 1, 4), 4);
}

static const struct gw_test tests[] = {
	GW_TEST(a_stall_of_10_ms_is_in_the_latency_of_all_that_were_due_in_it),
	GW_TEST(frames_that_went_100_us_after_they_were_due_are_counted_as_late),
	GW_TEST(a_frame_is_late_from_one_tick_beyond_the_grace),
	GW_TEST(frames_given_up_count_with_the_time_they_waited),
	GW_TEST(of_frames_given_up_as_large_a_share_counts_as_of_the_others),
	GW_TEST(an_hour_at_line_rate_is_kept_to_the_frame),
	GW_TEST(no_frame_counts_from_after_it_went),
};

GW_SUITE("bench_pace", tests)
