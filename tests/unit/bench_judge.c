/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * guideway-bench's judge: what becomes of samples, good and bad, of a runner whose samples are
 * written down here, and what is told of the machine. No packet moves.
 */
#include "suite.h"
#include "tools/bench/core/bench.h"
#include "tools/bench/core/machine.h"
#include "tools/bench/core/measure.h"
#include "tools/bench/core/pairs.h"
#include "tools/bench/core/steady.h"
#include "tools/bench/report/report.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the runner below answers, and what it was asked. */
static struct {
	struct bench_sample balancer, bound;
	double ns[8]; /* of the balancer's rounds, in turn; 0: as `balancer` says */
	int status, open_status;
	uint32_t measured[2], opened, closed;
	char order[64];
} script;

static int script_open(const struct bench_machine *machine, const struct bench_case *what,
	void **state, char message[BENCH_MESSAGE])
{
	script.opened++;
	if (script.open_status)
		snprintf(message, BENCH_MESSAGE, "no such thing here");
	*state = &script;
	return script.open_status;
}

static int script_measure(void *state, enum bench_subject subject, double seconds,
	struct bench_sample *sample, char message[BENCH_MESSAGE])
{
	uint32_t number = script.measured[subject]++;

	strcat(script.order, subject == BENCH_BOUND ? "o" : "b");
	if (script.status) {
		snprintf(message, BENCH_MESSAGE, "the port is gone");
		return script.status;
	}
	*sample = subject == BENCH_BOUND ? script.bound : script.balancer;
	/* The first one warms up. */
	if (subject == BENCH_BALANCER && number && script.ns[number - 1] > 0)
		sample->seconds = script.ns[number - 1] * (double)sample->packets * 1e-9;
	return 0;
}

static void script_close(void *state)
{
	script.closed++;
}

static const struct bench_runner script_runner = {.path = "dpdk",
	.mode = "cpu",
	.what = "samples from a script",
	.bound = "the same",
	.synthetic = true,
	.open = script_open,
	.measure = script_measure,
	.close = script_close};

const struct bench_runner *const bench_runners[] = {&script_runner, NULL};

static struct bench_sample sample_good(double ns)
{
	return (struct bench_sample){.seconds = ns * 1e-3,
		.packets = 1000000,
		.offered = 1000000,
		.cycles = 70000000,
		.sampled = 1000,
		.counted_rx = 1000000,
		.counted_tx = 1000000};
}

static const struct bench_case plain = {.path = "dpdk",
	.mode = "cpu",
	.family = BENCH_IPV4,
	.encap = "ipip",
	.packet_size = 64,
	.flows = 1000,
	.services = 1,
	.pools = 1,
	.backends = 10,
	.table_size = 251,
	.table_flows = 65536,
	.tracked = true,
	.workers = 1};

static void script_reset(void)
{
	memset(&script, 0, sizeof(script));
	script.balancer = sample_good(40);
	script.bound = sample_good(20);
}

static void script_run(uint32_t rounds, struct measurement *measurement)
{
	const struct measure_options options = {.seconds = 0.01, .rounds = rounds};

	measure_case(&options, &script_runner, &plain, measurement);
}

/* The core is slowed at the first looks of a test, as many as are left here. */
static uint32_t slow_looks;

static bool script_slowed(int cpu)
{
	return slow_looks && slow_looks--;
}

static void what_a_slowed_core_measured_is_measured_again(void)
{
	struct measure_options options = {
		.seconds = 0.01, .rounds = 1, .steady = 2, .slowed = script_slowed};
	struct measurement measurement;

	script_reset();
	slow_looks = 3; /* before and after the first sample, before the second */
	measure_case(&options, &script_runner, &plain, &measurement);
	CU_ASSERT_STRING_EQUAL(script.order, "obooob"); /* behind the warm-up's two */
	CU_ASSERT_EQUAL(measurement.samples, 2);
	CU_ASSERT_EQUAL(measurement.slowed, 0);
	measurement_free(&measurement);

	script_reset();
	slow_looks = 8; /* all three tries, and one try of the balancer */
	measure_case(&options, &script_runner, &plain, &measurement);
	CU_ASSERT_STRING_EQUAL(script.order, "obooobb");
	CU_ASSERT_EQUAL(measurement.slowed, 1);
	CU_ASSERT_EQUAL(measurement.outcome, OUTCOME_FIGURE);
	measurement_free(&measurement);
}

static void a_look_at_a_core_leaves_the_thread_where_it_was(void)
{
	cpu_set_t before, after;

	CU_ASSERT_EQUAL_FATAL(sched_getaffinity(0, sizeof(before), &before), 0);
	steady_begin(sched_getcpu(), 0.001);
	steady_slowed(sched_getcpu());
	CU_ASSERT_EQUAL(sched_getaffinity(0, sizeof(after), &after), 0);
	CU_ASSERT(CPU_EQUAL(&before, &after));
	CU_ASSERT_FALSE(steady_slowed(CPU_SETSIZE - 1)); /* none such: nothing can be told */
}

static bool judged(const struct bench_sample *sample, const char *word)
{
	char why[BENCH_MESSAGE] = "";
	bool good = sample_judge(&plain, BENCH_BALANCER, sample, why);

	if (!good && word && !strstr(why, word))
		printf("'%s' is not in '%s'\n", word, why);
	return good || (word && !strstr(why, word));
}

static void medians_are_of_the_rounds(void)
{
	double odd[] = {5, 1, 3}, even[] = {4, 1, 3, 2}, one[] = {7};
	struct spread spread = spread_of(odd, 3);

	CU_ASSERT_EQUAL(spread.median, 3);
	CU_ASSERT_EQUAL(spread.min, 1);
	CU_ASSERT_EQUAL(spread.max, 5);
	CU_ASSERT_EQUAL(spread_of(even, 4).median, 2.5);
	CU_ASSERT_EQUAL(spread_of(one, 1).median, 7);
}

static void good_sample_is_a_figure(void)
{
	struct measurement measurement;

	script_reset();
	memcpy(script.ns, (double[]){41, 39, 44, 40, 43}, 5 * sizeof(double));
	script_run(5, &measurement);
	CU_ASSERT_EQUAL_FATAL(measurement.outcome, OUTCOME_FIGURE);
	CU_ASSERT_DOUBLE_EQUAL(measurement.ns.median, 41, 1e-6);
	CU_ASSERT_DOUBLE_EQUAL(measurement.ns.min, 39, 1e-6);
	CU_ASSERT_DOUBLE_EQUAL(measurement.ns.max, 44, 1e-6);
	CU_ASSERT_DOUBLE_EQUAL(measurement.bound_ns.median, 20, 1e-6);
	CU_ASSERT_DOUBLE_EQUAL(measurement.cycles.median, 70, 1e-6);
	CU_ASSERT_EQUAL(measurement.packets, 5000000);
	CU_ASSERT_EQUAL(measurement.sampled, 5000);
	CU_ASSERT_EQUAL(script.closed, 1);
	measurement_free(&measurement);
}

static void bound_and_balancer_take_turns(void)
{
	struct measurement measurement;

	script_reset();
	script_run(3, &measurement);
	/* One of each to warm up. */
	CU_ASSERT_STRING_EQUAL(script.order, "obobobob");
	measurement_free(&measurement);
}

static void warm_up_goes_on_until_flows_are_known(void)
{
	const struct measure_options options = {.seconds = 0.01, .rounds = 1};
	struct bench_case many = plain;
	struct measurement measurement;

	script_reset();
	many.flows = 1000000; /* four packets each: four measurements of a million */
	measure_case(&options, &script_runner, &many, &measurement);
	CU_ASSERT_STRING_EQUAL(script.order, "obbbbob");
	measurement_free(&measurement);
}

static void lost_packets_void_a_sample(void)
{
	struct bench_sample sample = sample_good(40);

	CU_ASSERT_TRUE(judged(&sample, NULL));
	sample.lost = 1;
	snprintf(sample.note, sizeof(sample.note), "no_neighbour 1");
	CU_ASSERT_FALSE(judged(&sample, "no_neighbour 1"));
}

static void packets_that_never_left_void_a_sample(void)
{
	struct bench_sample sample = sample_good(40);

	sample.offered++;
	CU_ASSERT_FALSE(judged(&sample, "was given 1000001 packets and sent 1000000"));
	sample = sample_good(40);
	sample.packets = 0;
	CU_ASSERT_FALSE(judged(&sample, "sent nothing"));
	sample = sample_good(0);
	CU_ASSERT_FALSE(judged(&sample, "no longer"));
}

static void wrong_output_voids_a_sample(void)
{
	struct bench_sample sample = sample_good(40);

	sample.wrong = 3;
	CU_ASSERT_FALSE(judged(&sample, "3 of 1000 frames"));
	sample = sample_good(40);
	sample.sampled = 0;
	CU_ASSERT_FALSE(judged(&sample, "no frame of the output"));
}

static void counters_that_disagree_void_a_sample(void)
{
	struct bench_sample sample = sample_good(40);

	sample.counted_rx++;
	CU_ASSERT_FALSE(judged(&sample, "do not add up"));
	sample = sample_good(40);
	sample.counted_rx = sample.counted_tx = 999999;
	CU_ASSERT_FALSE(judged(&sample, "counted 999999 packets sent, 1000000 came out"));
	sample = sample_good(40);
	sample.counted_tx--;
	sample.counted_drops++;
	CU_ASSERT_FALSE(judged(&sample, "dropped 1 packets"));
	sample = sample_good(40);
	sample.counted_tx--;
	sample.counted_other++;
	CU_ASSERT_FALSE(judged(&sample, "kept or handed over 1"));
	sample = sample_good(40);
	sample.counted_rx = sample.counted_tx = 0;
	CU_ASSERT_FALSE(judged(&sample, "could not be read"));
}

static void too_few_swaps_void_a_sample(void)
{
	struct bench_case swapping = plain;
	struct bench_sample sample = sample_good(1000); /* one second */
	char why[BENCH_MESSAGE] = "";

	swapping.swaps_per_second = 100;
	sample.swaps = 98;
	CU_ASSERT_TRUE(sample_judge(&swapping, BENCH_BALANCER, &sample, why));
	sample.swaps = 50;
	CU_ASSERT_FALSE(sample_judge(&swapping, BENCH_BALANCER, &sample, why));
	CU_ASSERT_PTR_NOT_NULL(strstr(why, "put in force in all: 50"));
}

static bool held_now;

static void script_hold(void *state, bool held)
{
	held_now = held;
}

/* Swaps make a packet dearer by a tenth, on a machine that gets slower and slower meanwhile. */
static int swapping_measure(void *state, enum bench_subject subject, double seconds,
	struct bench_sample *sample, char message[BENCH_MESSAGE])
{
	double slow = 1 + 0.001 * script.measured[0]++;

	*sample = subject == BENCH_BOUND ? script.bound : script.balancer;
	sample->seconds *= held_now ? slow : slow * 1.1;
	sample->swaps = held_now ? 0 : 1000;
	return 0;
}

static void what_swaps_cost_is_told_from_pairs_though_the_machine_drifts(void)
{
	struct bench_runner runner = script_runner;
	struct bench_case swapping = plain;
	const struct measure_options options = {.rounds = 3, .seconds = 0.3};
	struct measurement one;

	script_reset();
	script.balancer = sample_good(40);
	script.bound = sample_good(20);
	runner.measure = swapping_measure;
	runner.hold_swaps = script_hold;
	swapping.swaps_per_second = 100;
	measure_case(&options, &runner, &swapping, &one);
	CU_ASSERT_EQUAL_FATAL(one.outcome, OUTCOME_FIGURE);
	/* At least 40 in three rounds. */
	CU_ASSERT_EQUAL(one.swap_pairs, 42);
	CU_ASSERT_DOUBLE_EQUAL(one.swap_cost.median, 0.1, 0.002);
	CU_ASSERT_TRUE(one.swap_cost.min < one.swap_cost.median);
	CU_ASSERT_TRUE(one.swap_cost.max > one.swap_cost.median);
	CU_ASSERT_TRUE(pairs_decide(&one.swap_cost));
	CU_ASSERT_FALSE(held_now);
	measurement_free(&one);
}

/* Of 100: 50 - 9.8 is 40.2, so the 40th, and 1 + 50 + 9.8 is 60.8, so the 61st. */
static void bounds_of_a_median_are_those_of_order_statistics(void)
{
	double shares[100];
	struct spread found;

	for (int i = 0; i < 100; i++)
		shares[i] = (i * 37 % 100 + 1) / 1e3;
	found = pairs_median(shares, 100);
	CU_ASSERT_DOUBLE_EQUAL(found.median, 0.0505, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(found.min, 0.040, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(found.max, 0.061, 1e-9);
	CU_ASSERT_TRUE(pairs_decide(&found));
	found = pairs_median(shares, 5);
	CU_ASSERT_DOUBLE_EQUAL(found.min, 0.001, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(found.max, 0.005, 1e-9);
	CU_ASSERT_FALSE(pairs_decide(&(struct spread){.min = -0.03, .max = 0.02}));
}

static void packets_that_opened_no_flow_void_a_sample_of_new_ones(void)
{
	struct bench_case fresh = plain;
	struct bench_sample sample = sample_good(40);
	char why[BENCH_MESSAGE] = "";

	fresh.new_share = 0.5;
	sample.flows_new = 300000;
	sample.untracked = 190000;
	CU_ASSERT_TRUE(sample_judge(&fresh, BENCH_BALANCER, &sample, why));
	sample.untracked = 0;
	CU_ASSERT_FALSE(sample_judge(&fresh, BENCH_BALANCER, &sample, why));
	CU_ASSERT_PTR_NOT_NULL(strstr(why, "only 300000 of 1000000 packets opened a flow, 50%"));
	fresh.tracked = false;
	sample.flows_new = 0;
	CU_ASSERT_TRUE(sample_judge(&fresh, BENCH_BALANCER, &sample, why));
}

/* Even one that was remembered before this sample: its packets would be found again. */
static void a_flow_that_was_remembered_voids_an_untracked_sample(void)
{
	struct bench_case what = plain;
	struct bench_sample sample = sample_good(40);
	char why[BENCH_MESSAGE] = "";

	what.tracked = false;
	CU_ASSERT_TRUE(sample_judge(&what, BENCH_BALANCER, &sample, why));
	sample.remembered = 7;
	CU_ASSERT_TRUE(sample_judge(&plain, BENCH_BALANCER, &sample, why));
	CU_ASSERT_FALSE(sample_judge(&what, BENCH_BALANCER, &sample, why));
	CU_ASSERT_PTR_NOT_NULL(strstr(why, "for 7 packets, which were to go untracked"));
	sample.remembered = 0;
	sample.untracked = 3;
	CU_ASSERT_FALSE(sample_judge(&what, BENCH_BALANCER, &sample, why));
}

static void bound_as_quick_as_its_feeder_still_counts(void)
{
	struct bench_sample sample = sample_good(0);
	char why[BENCH_MESSAGE] = "";

	CU_ASSERT_FALSE(sample_judge(&plain, BENCH_BOUND, &sample, why));
	sample.overhead_ns = 1000;
	sample.seconds = -1e-9;
	CU_ASSERT_TRUE(sample_judge(&plain, BENCH_BOUND, &sample, why));
}

static void refused_figure_has_no_number_anywhere(void)
{
	static const char *const numbers[] = {"mpps", "ns_per_packet", "cycles_per_packet",
		"bound_mpps", "over_bound_ns", "ratio_to_bound"};
	struct measurement measurement;
	struct bench_case what = plain;
	struct plan plan = {.cases = &what,
		.case_count = 1,
		.group_count = 1,
		.groups = {{.along = AXIS_FLOWS, .count = 1}}};
	struct machine machine = {0};
	struct report report = {
		.plan = &plan, .machine = &machine, .measurements = &measurement, .count = 1};
	json_t *json, *run;

	script_reset();
	script.balancer.lost = 7;
	script_run(3, &measurement);
	CU_ASSERT_EQUAL(measurement.outcome, OUTCOME_REFUSED);
	CU_ASSERT_EQUAL(script.closed, 1);
	json = report_json(&report);
	run = json_array_get(json_object_get(json, "runs"), 0);
	CU_ASSERT_TRUE(json_is_false(json_object_get(run, "valid")));
	CU_ASSERT_EQUAL(json_integer_value(json_object_get(run, "lost")), 7);
	CU_ASSERT_PTR_NOT_NULL(strstr(json_string_value(json_object_get(run, "why")), "lost 7"));
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		CU_ASSERT_TRUE(json_is_null(json_object_get(run, numbers[i])));
	json_decref(json);
	measurement_free(&measurement);
}

static void impossible_case_is_skipped_and_failure_is_told(void)
{
	struct measurement measurement;

	script_reset();
	script.open_status = -ENOTSUP;
	script_run(1, &measurement);
	CU_ASSERT_EQUAL(measurement.outcome, OUTCOME_UNSUPPORTED);
	CU_ASSERT_STRING_EQUAL(measurement.why, "no such thing here");
	CU_ASSERT_EQUAL(script.closed, 0);
	measurement_free(&measurement);
	script_reset();
	script.status = -EIO;
	script_run(1, &measurement);
	CU_ASSERT_EQUAL(measurement.outcome, OUTCOME_FAILED);
	CU_ASSERT_STRING_EQUAL(measurement.why, "the port is gone");
	CU_ASSERT_EQUAL(script.closed, 1);
	measurement_free(&measurement);
}

static void cpu_lists_are_the_kernels(void)
{
	CU_ASSERT_TRUE(machine_list_has("0-3,8", 3));
	CU_ASSERT_TRUE(machine_list_has("0-3,8", 8));
	CU_ASSERT_FALSE(machine_list_has("0-3,8", 4));
	CU_ASSERT_FALSE(machine_list_has("", 0));
	CU_ASSERT_FALSE(machine_list_has("(null)", 0));
}

/* How often a word was told. */
struct ear {
	const char *word;
	uint32_t told;
};

static void hear(void *owner, const char *text)
{
	struct ear *ear = owner;

	ear->told += strstr(text, ear->word) != NULL;
}

static void disturbances_are_told(void)
{
	static const char *const words[] = {
		"powersave", "turbo", "hypervisor", "isolation", "huge pages", "JIT"};
	struct machine machine = {.cores = 2,
		.cpu = 1,
		.turbo = 1,
		.hypervisor = true,
		.bpf_jit = 0,
		.governor = "powersave"};
	struct measurement measurement = {.outcome = OUTCOME_FIGURE,
		.ns = {.median = 40, .min = 40, .max = 41},
		.steal_share = 0.03};
	struct ear ear;

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		ear = (struct ear){.word = words[i]};
		machine_warn(&machine, true, true, false, hear, &ear);
		CU_ASSERT_EQUAL(ear.told, 1);
	}
	ear = (struct ear){.word = "CPU"};
	machine = (struct machine){.cores = 2,
		.cpu = 1,
		.bpf_jit = 1,
		.measured_isolated = true,
		.governor = "performance"};
	machine_warn(&machine, true, true, true, hear, &ear);
	CU_ASSERT_EQUAL(ear.told, 0);
	ear = (struct ear){.word = "3.0%"};
	measurement_warn(&measurement, hear, &ear);
	CU_ASSERT_EQUAL(ear.told, 1);
}

static void bound_slower_than_the_balancer_is_told(void)
{
	struct measurement measurement = {.outcome = OUTCOME_FIGURE,
		.ns = {.median = 40, .min = 40, .max = 40},
		.bound_ns = {.median = 80, .min = 80, .max = 80}};
	struct ear ear = {.word = "2.0 times"};

	measurement_warn(&measurement, hear, &ear);
	CU_ASSERT_EQUAL(ear.told, 1);
	measurement.bound_ns.median = 41;
	ear = (struct ear){.word = "bound"};
	measurement_warn(&measurement, hear, &ear);
	CU_ASSERT_EQUAL(ear.told, 0);
}

static const struct gw_test tests[] = {
	GW_TEST(medians_are_of_the_rounds),
	GW_TEST(what_a_slowed_core_measured_is_measured_again),
	GW_TEST(a_look_at_a_core_leaves_the_thread_where_it_was),
	GW_TEST(good_sample_is_a_figure),
	GW_TEST(bound_and_balancer_take_turns),
	GW_TEST(warm_up_goes_on_until_flows_are_known),
	GW_TEST(lost_packets_void_a_sample),
	GW_TEST(packets_that_never_left_void_a_sample),
	GW_TEST(wrong_output_voids_a_sample),
	GW_TEST(counters_that_disagree_void_a_sample),
	GW_TEST(too_few_swaps_void_a_sample),
	GW_TEST(what_swaps_cost_is_told_from_pairs_though_the_machine_drifts),
	GW_TEST(bounds_of_a_median_are_those_of_order_statistics),
	GW_TEST(packets_that_opened_no_flow_void_a_sample_of_new_ones),
	GW_TEST(a_flow_that_was_remembered_voids_an_untracked_sample),
	GW_TEST(bound_as_quick_as_its_feeder_still_counts),
	GW_TEST(refused_figure_has_no_number_anywhere),
	GW_TEST(impossible_case_is_skipped_and_failure_is_told),
	GW_TEST(cpu_lists_are_the_kernels),
	GW_TEST(disturbances_are_told),
	GW_TEST(bound_slower_than_the_balancer_is_told),
};

GW_SUITE("bench_judge", tests)
