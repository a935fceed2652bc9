/* SPDX-License-Identifier: BSD-2-Clause */
/* Which cases guideway-bench's options and sweeps make, and what it says of those that they cannot.
 */
#include "suite.h"
#include "tools/bench/core/axis.h"
#include "tools/bench/core/plan.h"
#include "tools/bench/report/report.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static void lists_parse(enum axis_id id, const char *text, struct axis_list *list)
{
	char message[BENCH_MESSAGE] = "";

	CU_ASSERT_EQUAL(axis_parse(id, text, list, message), 0);
}

static void lists_multiply_and_flows_turn_fastest(void)
{
	struct axis_list lists[AXIS_IDS] = {0};
	char message[BENCH_MESSAGE] = "";
	struct plan plan;

	lists_parse(AXIS_FLOWS, "1,64k,10M", &lists[AXIS_FLOWS]);
	lists_parse(AXIS_SIZE, "64,imix", &lists[AXIS_SIZE]);
	lists_parse(AXIS_PATH, "xdp", &lists[AXIS_PATH]);
	lists_parse(AXIS_NEW, "0,50%", &lists[AXIS_NEW]);
	CU_ASSERT_EQUAL_FATAL(plan_make(lists, NULL, 0, &plan, message), 0);
	CU_ASSERT_EQUAL_FATAL(plan.case_count, 12);
	CU_ASSERT_EQUAL(plan.group_count, 1);
	CU_ASSERT_EQUAL(plan.groups[0].along, AXIS_FLOWS);
	CU_ASSERT_EQUAL(plan.cases[1].flows, 64000);
	CU_ASSERT_EQUAL(plan.cases[2].flows, 10000000);
	CU_ASSERT_EQUAL(plan.cases[2].table_flows, 20000000);
	CU_ASSERT_EQUAL(plan.cases[0].table_flows, 65536);
	CU_ASSERT_EQUAL(plan.cases[0].packet_size, 64);
	CU_ASSERT_EQUAL(plan.cases[11].packet_size, BENCH_SIZE_IMIX);
	CU_ASSERT_DOUBLE_EQUAL(plan.cases[3].new_share, 0.5, 1e-9);
	CU_ASSERT_STRING_EQUAL(plan.cases[0].path, "xdp");
	plan_free(&plan);
}

static void options_go_before_what_a_sweep_sets(void)
{
	const struct sweep *sweep = sweep_find("backends");
	struct axis_list lists[AXIS_IDS] = {0};
	char message[BENCH_MESSAGE] = "";
	struct plan plan;

	lists_parse(AXIS_FLOWS, "5", &lists[AXIS_FLOWS]);
	lists_parse(AXIS_PATH, "dpdk", &lists[AXIS_PATH]);
	CU_ASSERT_PTR_NOT_NULL_FATAL(sweep);
	CU_ASSERT_EQUAL_FATAL(plan_make(lists, &sweep, 1, &plan, message), 0);
	CU_ASSERT_EQUAL(plan.groups[0].along, AXIS_BACKENDS);
	CU_ASSERT_TRUE(plan.case_count > 2);
	for (size_t i = 0; i < plan.case_count; i++)
		CU_ASSERT_EQUAL(plan.cases[i].flows, 5);
	plan_free(&plan);
}

static void every_sweep_is_a_plan(void)
{
	for (size_t i = 0; i < sweep_count; i++) {
		const struct sweep *sweep = &sweeps[i];
		struct axis_list lists[AXIS_IDS] = {0};
		char message[BENCH_MESSAGE] = "";
		struct plan plan;

		CU_ASSERT_EQUAL_FATAL(plan_make(lists, &sweep, 1, &plan, message), 0);
		CU_ASSERT_TRUE(group_varies(&plan, &plan.groups[0], sweep->along));
		plan_free(&plan);
	}
	CU_ASSERT_PTR_NULL(sweep_find("none"));
}

static void services_suffice_for_the_pools(void)
{
	struct axis_list lists[AXIS_IDS] = {0};
	char message[BENCH_MESSAGE] = "";
	struct plan plan;

	lists_parse(AXIS_POOLS, "7", &lists[AXIS_POOLS]);
	CU_ASSERT_EQUAL_FATAL(plan_make(lists, NULL, 0, &plan, message), 0);
	CU_ASSERT_EQUAL(plan.cases[0].services, 7);
	plan_free(&plan);
	lists_parse(AXIS_SERVICES, "6", &lists[AXIS_SERVICES]);
	CU_ASSERT_EQUAL(plan_make(lists, NULL, 0, &plan, message), -EINVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(message, "7 pools, but only 6 services"));
}

static void too_many_cases_are_refused(void)
{
	struct axis_list lists[AXIS_IDS] = {0};
	char message[BENCH_MESSAGE] = "", text[256] = "1";
	struct plan plan;

	for (int i = 2; i <= AXIS_VALUES_MAX; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), ",%d", i);
	lists_parse(AXIS_FLOWS, text, &lists[AXIS_FLOWS]);
	lists_parse(AXIS_BACKENDS, text, &lists[AXIS_BACKENDS]);
	lists_parse(AXIS_SERVICES, text, &lists[AXIS_SERVICES]);
	lists_parse(AXIS_WORKERS, text, &lists[AXIS_WORKERS]);
	CU_ASSERT_EQUAL(plan_make(lists, NULL, 0, &plan, message), -EINVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(message, "cases"));
}

static void bad_values_are_named_with_their_option(void)
{
	static const struct {
		enum axis_id id;
		const char *text, *option, *value;
	} bad[] = {
		{AXIS_FLOWS, "1,6x4", "--flows", "'6x4'"},
		{AXIS_FLOWS, "0", "--flows", "'0'"},
		{AXIS_FLOWS, "", "--flows", "''"},
		{AXIS_FLOWS, "1,", "--flows", "''"},
		{AXIS_FLOWS, "-1", "--flows", "'-1'"},
		{AXIS_FLOWS, "1.5", "--flows", "'1.5'"},
		{AXIS_FLOWS, "1e99", "--flows", "'1e99'"},
		{AXIS_FLOWS, "nan", "--flows", "'nan'"},
		{AXIS_SIZE, "63", "--size", "'63'"},
		{AXIS_SIZE, "1k", "--size", "'1k'"},
		{AXIS_SIZE, "imixx", "--size", "'imixx'"},
		{AXIS_FAMILY, "5", "--family", "'5'"},
		{AXIS_ENCAP, "ipip,vxlan", "--encap", "'vxlan'"},
		{AXIS_NEW, "101%", "--new", "'101%'"},
		{AXIS_FILL, "2", "--fill", "'2'"},
		{AXIS_PATH, "dpd", "--path", "'dpd'"},
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct axis_list list = {.count = 77};
		char message[BENCH_MESSAGE] = "";

		CU_ASSERT_EQUAL(axis_parse(bad[i].id, bad[i].text, &list, message), -EINVAL);
		CU_ASSERT_EQUAL(list.count, 77);
		CU_ASSERT_PTR_NOT_NULL(strstr(message, bad[i].option));
		CU_ASSERT_PTR_NOT_NULL(strstr(message, bad[i].value));
	}
}

static void values_read_back_as_they_were_set(void)
{
	static const struct {
		enum axis_id id;
		const char *text;
	} values[] = {{AXIS_FLOWS, "64k"}, {AXIS_FLOWS, "1M"}, {AXIS_FLOWS, "1234"},
		{AXIS_SIZE, "imix"}, {AXIS_SIZE, "1518"}, {AXIS_FILL, "12.5%"}, {AXIS_ENCAP, "l2"},
		{AXIS_FAMILY, "6"}, {AXIS_TRACKED, "no"}, {AXIS_POLL, "adaptive"},
		{AXIS_TABLE_SIZE, "65537"}, {AXIS_SWAPS, "100"}, {AXIS_LOAD, "50%"},
		{AXIS_IDLE, "10k"}, {AXIS_WORKERS, "2"}, {AXIS_PATH, "xdp"}, {AXIS_MODE, "nic"}};

	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		struct bench_case what = {0};
		struct axis_list list = {0};
		char text[32];

		lists_parse(values[i].id, values[i].text, &list);
		axis_set(values[i].id, list.values[0], &what);
		CU_ASSERT_STRING_EQUAL(
			axis_print(values[i].id, axis_get(values[i].id, &what), text, sizeof(text)),
			values[i].text);
	}
}

static const struct gw_test tests[] = {
	GW_TEST(lists_multiply_and_flows_turn_fastest),
	GW_TEST(options_go_before_what_a_sweep_sets),
	GW_TEST(every_sweep_is_a_plan),
	GW_TEST(services_suffice_for_the_pools),
	GW_TEST(too_many_cases_are_refused),
	GW_TEST(bad_values_are_named_with_their_option),
	GW_TEST(values_read_back_as_they_were_set),
};

GW_SUITE("bench_plan", tests)
