/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * guideway-bench's runner of the DPDK path from memory: that each case it can be asked for runs as
 * it should, in fractions of a second. How fast it is, is no matter here.
 */
#include "suite.h"
#include "tools/bench/core/bench.h"
#include "tools/bench/core/measure.h"
#include "tools/bench/dpdk/frames.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>

#define SECONDS 0.01

static struct bench_machine machine = {.eal_args = "--no-huge -m 256"};
static int cpus;

static const struct bench_case plain = {
	.path = "dpdk",
	.mode = "cpu",
	.family = BENCH_IPV4,
	.encap = "ipip",
	.packet_size = 64,
	.flows = 5000,
	.services = 1,
	.pools = 1,
	.backends = 10,
	.table_size = 251,
	.tracked = true,
	.workers = 1,
};

static void measure_for(
	const struct bench_case *what, double seconds, struct bench_sample samples[2])
{
	char message[BENCH_MESSAGE] = "";
	void *state = NULL;
	int error = bench_dpdk_cpu.open(&machine, what, &state, message);

	samples[0] = samples[1] = (struct bench_sample){0};
	if (!error)
		error = bench_dpdk_cpu.measure(
			state, BENCH_BOUND, seconds, &samples[BENCH_BOUND], message);
	if (!error)
		error = bench_dpdk_cpu.measure(
			state, BENCH_BALANCER, seconds, &samples[BENCH_BALANCER], message);
	bench_dpdk_cpu.close(state);
	if (error)
		printf("%s %u bytes: %s\n", what->encap, what->packet_size, message);
	CU_ASSERT_EQUAL(error, 0);
}

/* Both subjects sent all, and every frame looked at was right. */
static void expect_whole(const struct bench_sample samples[2])
{
	const struct bench_sample *balancer = &samples[BENCH_BALANCER];

	for (int i = 0; i < 2; i++) {
		CU_ASSERT_TRUE(samples[i].packets > 0);
		CU_ASSERT_EQUAL(samples[i].packets, samples[i].offered);
		CU_ASSERT_EQUAL(samples[i].lost, 0);
		CU_ASSERT_TRUE(samples[i].seconds > SECONDS / 4);
		CU_ASSERT_TRUE(samples[i].cycles > 0);
	}
	CU_ASSERT_TRUE(samples[BENCH_BOUND].io_ns > 0);
	CU_ASSERT_TRUE(balancer->sampled > 0);
	CU_ASSERT_EQUAL(balancer->wrong, 0);
	CU_ASSERT_EQUAL(balancer->counted_rx, balancer->packets);
	CU_ASSERT_EQUAL(balancer->counted_tx, balancer->packets);
	CU_ASSERT_EQUAL(balancer->counted_drops, 0);
	CU_ASSERT_EQUAL(balancer->counted_other, 0);
	CU_ASSERT_STRING_EQUAL(balancer->note, "");
}

static void every_family_and_encapsulation_comes_out_whole(void)
{
	static const char *const encaps[] = {"ipip", "gue", "gre", "l2"};
	static const enum bench_family families[] = {BENCH_IPV4, BENCH_IPV6};

	for (size_t e = 0; e < 4; e++) {
		for (size_t f = 0; f < 2; f++) {
			struct bench_case what = plain;
			struct bench_sample samples[2];

			what.encap = encaps[e];
			what.family = families[f];
			measure_for(&what, SECONDS, samples);
			expect_whole(samples);
		}
	}
}

static void every_size_comes_out_whole(void)
{
	static const uint32_t sizes[] = {BENCH_SIZE_IMIX, 128, 1518};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct bench_case what = plain;
		struct bench_sample samples[2];

		what.packet_size = sizes[i];
		measure_for(&what, SECONDS, samples);
		expect_whole(samples);
	}
}

static void known_flows_are_hits_and_new_ones_are_new(void)
{
	static const double shares[] = {0, 0.25, 1};

	for (size_t i = 0; i < 3; i++) {
		struct bench_case what = plain;
		struct bench_sample samples[2];
		double expected;

		what.new_share = shares[i];
		what.table_flows = 1u << 20;
		measure_for(&what, SECONDS, samples);
		expect_whole(samples);
		expected = (double)samples[BENCH_BALANCER].packets * shares[i];
		/* But for those that find no room, which are few. */
		CU_ASSERT_DOUBLE_EQUAL((double)(samples[BENCH_BALANCER].flows_new +
						samples[BENCH_BALANCER].untracked),
			expected, 1 + expected * 0.01);
	}
}

static void flows_that_never_send_fill_the_table(void)
{
	struct bench_case what = plain;
	struct bench_sample samples[2];

	what.table_flows = 20000;
	what.table_fill = 0.25;
	measure_for(&what, SECONDS, samples);
	expect_whole(samples);
	CU_ASSERT_EQUAL(samples[BENCH_BALANCER].untracked, 0);
	what.table_fill = 4;
	measure_for(&what, SECONDS, samples);
	expect_whole(samples);
	CU_ASSERT_TRUE(samples[BENCH_BALANCER].untracked > samples[BENCH_BALANCER].packets / 2);
}

static void tables_are_swapped_while_it_is_measured(void)
{
	struct bench_case what = plain;
	struct bench_sample samples[2];

	what.swaps_per_second = 200;
	what.services = 20;
	what.pools = 5;
	/* On a busy machine the time may be over before the thread that swaps has run twice. */
	for (int attempt = 0; attempt < 20; attempt++) {
		measure_for(&what, 0.1, samples);
		expect_whole(samples);
		if (samples[BENCH_BALANCER].swaps >= 2)
			break;
	}
	CU_ASSERT_TRUE(samples[BENCH_BALANCER].swaps >= 2);
	CU_ASSERT_TRUE(samples[BENCH_BALANCER].swaps <= 20);
	CU_ASSERT_EQUAL(samples[BENCH_BOUND].swaps, 0);
}

static void two_workers_share_the_flows(void)
{
	struct bench_case what = plain;
	struct bench_sample samples[2];

	/* On a machine with one CPU there is only one worker. */
	what.workers = cpus > 1 ? 2 : 1;
	measure_for(&what, 0.05, samples);
	expect_whole(samples);
	CU_ASSERT_EQUAL(samples[BENCH_BALANCER].flows_new, 0);
}

static void untracked_packets_are_whole_and_leave_nothing_in_the_flow_table(void)
{
	struct bench_sample samples[2];
	struct bench_case what = plain;
	char why[BENCH_MESSAGE] = "";

	what.tracked = false;
	measure_for(&what, 0.05, samples);
	expect_whole(samples);
	CU_ASSERT_EQUAL(samples[BENCH_BALANCER].remembered, 0);
	CU_ASSERT_TRUE(sample_judge(&what, BENCH_BALANCER, &samples[BENCH_BALANCER], why));
	what.tracked = true;
	measure_for(&what, 0.05, samples);
	what.tracked = false;
	CU_ASSERT_FALSE(sample_judge(&what, BENCH_BALANCER, &samples[BENCH_BALANCER], why));
	CU_ASSERT_PTR_NOT_NULL(strstr(why, "were to go untracked"));
}

static void a_case_that_the_path_cannot_have_is_refused(void)
{
	struct bench_case what = plain;
	char message[BENCH_MESSAGE] = "";
	void *state = NULL;

	what.workers = CPU_SETSIZE;
	CU_ASSERT_EQUAL(bench_dpdk_cpu.open(&machine, &what, &state, message), -ENOTSUP);
	CU_ASSERT_PTR_NOT_NULL(strstr(message, "workers"));
	CU_ASSERT_PTR_NULL(state);
	bench_dpdk_cpu.close(NULL);
}

/* Against the slow and simple writer, wherever a flow may differ from flow 0. */
static void heads_written_fast_make_the_frames_of_the_case(void)
{
	static const uint32_t sizes[] = {64, 78, 79, 512, 1518, BENCH_SIZE_IMIX};
	static const uint32_t services[] = {1, 3, 64, 10000};
	static const uint64_t flows[] = {
		0, 1, 2, 9999, 65535, 65536, 131071, 131072, 10000000, 2147483648, 4294967295};
	uint64_t different = 0, compared = 0;

	for (size_t v = 0; v < 2 * 6 * 4; v++) {
		struct bench_case what = plain;
		struct bench_frames frames = {.what = &what, .destination_mac = BENCH_OUR_MAC};
		struct frames_writer writer;
		uint8_t body[BENCH_FRAME_MAX + FRAMES_HEAD], slow[BENCH_FRAME_MAX];

		what.family = v % 2 ? BENCH_IPV6 : BENCH_IPV4;
		what.packet_size = sizes[v / 2 % 6];
		what.services = services[v / 12];
		frames_writer_init(&writer, &frames);
		frames_writer_body(&frames, body);
		for (uint64_t n = 0; n < 11 * 12; n++) {
			uint64_t flow = flows[n % 11], number = n % 12;
			enum frames_kind kind = n & 1 ? FRAMES_SYN : FRAMES_ACK;
			const struct frames_template *template =
				&writer.template[kind][number % writer.sizes];
			uint32_t length = bench_frame_write(
				&frames, flow, number, kind == FRAMES_SYN ? 2 : 0, slow);

			frames_write(&writer, template, writer.ipv6, (uint32_t)flow, body);
			different += length != template->length || memcmp(body, slow, length) != 0;
			compared++;
		}
	}
	CU_ASSERT_EQUAL(compared, 48 * 132);
	CU_ASSERT_EQUAL(different, 0);
}

static const struct gw_test tests[] = {
	GW_TEST(heads_written_fast_make_the_frames_of_the_case),
	GW_TEST(every_family_and_encapsulation_comes_out_whole),
	GW_TEST(every_size_comes_out_whole),
	GW_TEST(known_flows_are_hits_and_new_ones_are_new),
	GW_TEST(flows_that_never_send_fill_the_table),
	GW_TEST(tables_are_swapped_while_it_is_measured),
	GW_TEST(two_workers_share_the_flows),
	GW_TEST(untracked_packets_are_whole_and_leave_nothing_in_the_flow_table),
	GW_TEST(a_case_that_the_path_cannot_have_is_refused),
};

/* The measured CPU: the last one that this process may use. */
int main(int argc, char **argv)
{
	cpu_set_t allowed;

	sched_getaffinity(0, sizeof(allowed), &allowed);
	cpus = CPU_COUNT(&allowed);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET((size_t)cpu, &allowed))
			machine.cpu = cpu;
	return gw_suite_run("bench_dpdk_cpu", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
