/* SPDX-License-Identifier: BSD-2-Clause */
/* What guideway-bench says of a machine whose other sessions nice does not hold back, and of a flow
 * table that is too small. */
#include "suite.h"
#include "tools/bench/core/machine.h"
#include "tools/bench/core/measure.h"

#include <string.h>

static void count_autogroup(void *owner, const char *text)
{
	*(int *)owner += !strncmp(text, "autogroup:", 10);
}

static int warned(double load, bool plain)
{
	const struct machine machine = {
		.cores = 2, .cpu = 1, .load = load, .autogroup_plain = plain};
	int count = 0;

	machine_warn(&machine, true, true, true, count_autogroup, &count);
	return count;
}

static void a_plain_autogroup_is_warned_of_beside_other_work(void)
{
	CU_ASSERT_EQUAL(warned(1.5, true), 1);
}

static void a_plain_autogroup_does_not_matter_on_an_idle_machine(void)
{
	CU_ASSERT_EQUAL(warned(0.1, true), 0);
}

static void a_preferred_autogroup_is_not_warned_of(void)
{
	CU_ASSERT_EQUAL(warned(1.5, false), 0);
}

struct wanted_text {
	const char *words;
	int count;
};

static void count_text(void *owner, const char *text)
{
	struct wanted_text *wanted = owner;

	wanted->count += strstr(text, wanted->words) != NULL;
}

static int told(const struct measurement *measurement, const char *words)
{
	struct wanted_text wanted = {.words = words};

	measurement_warn(measurement, count_text, &wanted);
	return wanted.count;
}

static void packets_that_found_no_room_for_their_flow_are_told(void)
{
	struct measurement measurement = {.packets = 1000, .untracked = 10};

	CU_ASSERT_EQUAL(told(&measurement, "went untracked"), 0);
	measurement.untracked = 30;
	CU_ASSERT_EQUAL(told(&measurement, "went untracked"), 1);
}

static void a_core_that_was_slowed_is_told_of(void)
{
	struct measurement measurement = {.samples = 10, .slowed = 1};

	CU_ASSERT_EQUAL(told(&measurement, "slowed from outside"), 0);
	measurement.slowed = 2;
	CU_ASSERT_EQUAL(told(&measurement, "slowed from outside in 20%"), 1);
}

static const struct gw_test tests[] = {
	GW_TEST(a_plain_autogroup_is_warned_of_beside_other_work),
	GW_TEST(a_plain_autogroup_does_not_matter_on_an_idle_machine),
	GW_TEST(a_preferred_autogroup_is_not_warned_of),
	GW_TEST(packets_that_found_no_room_for_their_flow_are_told),
	GW_TEST(a_core_that_was_slowed_is_told_of),
};

GW_SUITE("bench_warnings", tests)
