/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * guideway-bench's runners of the XDP path, run for moments: that they measure the balancer, lose
 * nothing, and see it when the balancer does not do what the case asks for. How fast is not asked.
 */
#include "suite.h"
#include "tools/bench/core/bench.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOMENT 0.01 /* seconds: one batch */

static struct bench_machine machine = {.eal_args = ""}; /* on CPU 0, generator on the last */

static struct bench_case make_case(enum bench_family family, const char *encap, uint32_t size)
{
	return (struct bench_case){
		.path = "xdp",
		.family = family,
		.encap = encap,
		.packet_size = size,
		.flows = 1000,
		.services = 3,
		.pools = 1,
		.backends = 10,
		.table_size = 4099,
		.tracked = true,
	};
}

static void *runner_open(const struct bench_runner *runner, const struct bench_case *what)
{
	char message[BENCH_MESSAGE] = "";
	void *state = NULL;

	machine.generator_cpu = (int)sysconf(_SC_NPROCESSORS_ONLN) - 1;
	CU_ASSERT_EQUAL(runner->open(&machine, what, &state, message), 0);
	if (message[0])
		fprintf(stderr, "%s/%s: %s\n", runner->path, runner->mode, message);
	CU_ASSERT_PTR_NOT_NULL_FATAL(state);
	return state;
}

static struct bench_sample runner_measure(
	const struct bench_runner *runner, void *state, enum bench_subject subject)
{
	struct bench_sample sample = {0};
	char message[BENCH_MESSAGE] = "";

	CU_ASSERT_EQUAL(runner->measure(state, subject, MOMENT, &sample, message), 0);
	if (message[0])
		fprintf(stderr, "%s/%s: %s\n", runner->path, runner->mode, message);
	return sample;
}

static void expect_good(const struct bench_sample *sample)
{
	CU_ASSERT(sample->packets > 0);
	CU_ASSERT_EQUAL(sample->packets, sample->offered);
	CU_ASSERT_EQUAL(sample->lost, 0);
	CU_ASSERT(sample->sampled > 0);
	CU_ASSERT_EQUAL(sample->wrong, 0);
	CU_ASSERT_EQUAL(sample->counted_rx, sample->packets);
	CU_ASSERT_EQUAL(sample->counted_tx, sample->packets);
	CU_ASSERT_EQUAL(sample->counted_drops + sample->counted_other, 0);
	CU_ASSERT_STRING_EQUAL(sample->note, "");
}

/* Measures the case for a moment; the sample of the balancer. */
static struct bench_sample pass(const struct bench_runner *runner, const struct bench_case *what)
{
	void *state = runner_open(runner, what);
	struct bench_sample bound = runner_measure(runner, state, BENCH_BOUND);
	struct bench_sample sample = runner_measure(runner, state, BENCH_BALANCER);

	CU_ASSERT(bound.packets > 0);
	CU_ASSERT_EQUAL(bound.packets, bound.offered);
	CU_ASSERT_EQUAL(bound.lost, 0);
	expect_good(&sample);
	CU_ASSERT(sample.seconds > 0);
	runner->close(state);
	return sample;
}

/* On a busy machine the moment may be over before the thread that swaps has run at all. */
static void expect_swaps(const struct bench_runner *runner, const struct bench_case *what)
{
	uint64_t swaps = 0;

	for (int attempt = 0; attempt < 20 && !swaps; attempt++)
		swaps = pass(runner, what).swaps;
	CU_ASSERT(swaps > 0);
}

/* Every encapsulation, and of families and sizes each with some. */
static void pass_all(const struct bench_runner *runner)
{
	static const struct {
		enum bench_family family;
		const char *encap;
		uint32_t size;
	} cases[] = {
		{BENCH_IPV4, "ipip", BENCH_SIZE_IMIX},
		{BENCH_IPV6, "ipip", 1518},
		{BENCH_IPV6, "gue", BENCH_SIZE_IMIX},
		{BENCH_IPV4, "gre", 1518},
		{BENCH_IPV6, "l2", 64},
	};

	for (uint32_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct bench_case what = make_case(cases[i].family, cases[i].encap, cases[i].size);

		pass(runner, &what);
	}
}

/* The balancer encapsulates as it was told; then the case changes its mind. */
static void expect_wrong_seen(const struct bench_runner *runner)
{
	struct bench_case what = make_case(BENCH_IPV4, "ipip", 64);
	void *state = runner_open(runner, &what);
	struct bench_sample sample;

	what.encap = "gre";
	sample = runner_measure(runner, state, BENCH_BALANCER);
	CU_ASSERT(sample.sampled > 0);
	CU_ASSERT_EQUAL(sample.wrong, sample.sampled);
	what.encap = "ipip";
	sample = runner_measure(runner, state, BENCH_BALANCER);
	expect_good(&sample);
	runner->close(state);
}

/* Two of three packets go to addresses of services that the balancer does not have. */
static void expect_loss_seen(const struct bench_runner *runner)
{
	struct bench_case what = make_case(BENCH_IPV4, "ipip", 64);
	struct bench_sample sample;
	void *state;

	what.services = 1;
	state = runner_open(runner, &what);
	what.services = 3;
	sample = runner_measure(runner, state, BENCH_BALANCER);
	CU_ASSERT(sample.lost > 0);
	CU_ASSERT_EQUAL(sample.lost, sample.offered - sample.packets);
	CU_ASSERT_EQUAL(sample.counted_other, sample.lost);
	runner->close(state);
}

static void expect_nothing_remembered(const struct bench_runner *runner)
{
	struct bench_case what = make_case(BENCH_IPV4, "ipip", 64);
	struct bench_sample sample;

	CU_ASSERT(pass(runner, &what).remembered > 0);
	what.tracked = false;
	sample = pass(runner, &what);
	CU_ASSERT_EQUAL(sample.remembered + sample.untracked, 0);
}

static void test_runs_carry_every_family_encapsulation_and_size(void)
{
	pass_all(&bench_xdp_cpu);
}

static void test_runs_see_another_encapsulation(void)
{
	expect_wrong_seen(&bench_xdp_cpu);
}

static void test_runs_see_what_is_not_sent(void)
{
	expect_loss_seen(&bench_xdp_cpu);
}

static void test_runs_open_new_flows(void)
{
	struct bench_case what = make_case(BENCH_IPV4, "ipip", 64);

	what.new_share = 1;
	pass(&bench_xdp_cpu, &what);
}

static void test_runs_go_on_while_tables_are_swapped(void)
{
	struct bench_case what = make_case(BENCH_IPV4, "ipip", 64);

	what.swaps_per_second = 100;
	expect_swaps(&bench_xdp_cpu, &what);
}

static void test_runs_go_on_when_the_flow_table_is_full(void)
{
	struct bench_case what = make_case(BENCH_IPV6, "gue", 64);
	struct bench_sample sample;

	what.table_fill = 1;
	sample = pass(&bench_xdp_cpu, &what);
	CU_ASSERT(sample.untracked <= sample.packets / 50);
	what.table_fill = GW_FLOW_WORDS_PER_FLOW; /* no word is left */
	sample = pass(&bench_xdp_cpu, &what);
	CU_ASSERT(sample.untracked > sample.packets / 2);
}

static void test_runs_of_untracked_packets_leave_nothing_in_the_flow_table(void)
{
	expect_nothing_remembered(&bench_xdp_cpu);
}

static void link_carries_every_family_encapsulation_and_size(void)
{
	pass_all(&bench_xdp_link);
}

static void link_sees_another_encapsulation(void)
{
	expect_wrong_seen(&bench_xdp_link);
}

static void link_sees_what_does_not_come_back(void)
{
	expect_loss_seen(&bench_xdp_link);
}

static void link_leaves_nothing_of_untracked_packets_in_the_flow_table(void)
{
	expect_nothing_remembered(&bench_xdp_link);
}

static void link_goes_on_while_tables_are_swapped(void)
{
	struct bench_case what = make_case(BENCH_IPV4, "ipip", 64);

	what.swaps_per_second = 100;
	expect_swaps(&bench_xdp_link, &what);
}

static void link_leaves_the_caller_where_it_was(void)
{
	struct bench_case what = make_case(BENCH_IPV4, "ipip", 64);
	struct stat before, after;

	CU_ASSERT_EQUAL(stat("/proc/thread-self/ns/net", &before), 0);
	pass(&bench_xdp_link, &what);
	CU_ASSERT_EQUAL(stat("/proc/thread-self/ns/net", &after), 0);
	CU_ASSERT_EQUAL(before.st_ino, after.st_ino);
}

static void link_refuses_less_than_full_load(void)
{
	struct bench_case what = make_case(BENCH_IPV4, "ipip", 64);
	char message[BENCH_MESSAGE] = "";
	void *state = NULL;

	what.load = 0.5;
	CU_ASSERT_EQUAL(bench_xdp_link.open(&machine, &what, &state, message), -ENOTSUP);
	CU_ASSERT_PTR_NULL(state);
	CU_ASSERT_STRING_NOT_EQUAL(message, "");
}

static const struct gw_test tests[] = {
	GW_TEST(test_runs_carry_every_family_encapsulation_and_size),
	GW_TEST(test_runs_see_another_encapsulation),
	GW_TEST(test_runs_see_what_is_not_sent),
	GW_TEST(test_runs_open_new_flows),
	GW_TEST(test_runs_go_on_while_tables_are_swapped),
	GW_TEST(test_runs_go_on_when_the_flow_table_is_full),
	GW_TEST(test_runs_of_untracked_packets_leave_nothing_in_the_flow_table),
	GW_TEST(link_carries_every_family_encapsulation_and_size),
	GW_TEST(link_sees_another_encapsulation),
	GW_TEST(link_sees_what_does_not_come_back),
	GW_TEST(link_leaves_nothing_of_untracked_packets_in_the_flow_table),
	GW_TEST(link_goes_on_while_tables_are_swapped),
	GW_TEST(link_leaves_the_caller_where_it_was),
	GW_TEST(link_refuses_less_than_full_load),
};

GW_SUITE("bench_xdp", tests)
