/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The eBPF feeder of guideway-bench, run by itself: what comes out is to be the frame that
 * bench_frame_write writes, whose own right values are in bench_frames.c.
 */
#include "suite.h"
#include "tools/bench/core/bench.h"
#include "tools/bench/xdp/feed.h"
#include "tools/bench/xdp/feeder.h"

#include <linux/bpf.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <string.h>

#define OUTER  48 /* what a program before has put in front: IPv6 and UDP */
#define FLOWS  64
#define VISITS 2000

static struct bench_case what = {
	.encap = "ipip", .packet_size = 64, .flows = FLOWS, .services = 7, .backends = 4};
static struct bench_frames frames = {
	.what = &what, .destination_mac = {2, 0, 0, 0, 0, 2}, .source_mac = {2, 0, 0, 0, 0, 10}};
static struct bench_feeder_bpf *feeder;
static uint8_t out[2048];

static void feeder_open(enum bench_family family)
{
	what.family = family;
	CU_ASSERT_EQUAL_FATAL(xdp_feeder_open(family, -1, &feeder), 0);
}

/* One run on a frame that something has been put in front of, all of it dirty; the length. */
static uint32_t feeder_run(void)
{
	uint8_t in[OUTER + BENCH_FRAME_MAX];
	uint32_t header = 54 + (what.family == BENCH_IPV6 ? 20 : 0);
	LIBBPF_OPTS(bpf_test_run_opts, options, .data_in = in,
		.data_size_in = OUTER + feeder->bss->feed.frame_length, .data_out = out,
		.data_size_out = sizeof(out));

	bench_frame_write(&frames, 0, 0, 0, in + OUTER);
	memset(in, 0xee, OUTER + header);
	CU_ASSERT_EQUAL(
		bpf_prog_test_run_opts(bpf_program__fd(feeder->progs.feed_nothing), &options), 0);
	CU_ASSERT_EQUAL(options.retval, XDP_TX);
	return options.data_size_out;
}

static void expect_frame(uint64_t flow, uint32_t kind)
{
	uint8_t wanted[BENCH_FRAME_MAX];
	uint32_t length = bench_frame_write(&frames, flow, 0, xdp_feed_flags(kind), wanted);

	CU_ASSERT_EQUAL(feeder_run(), length);
	CU_ASSERT_EQUAL(memcmp(out, wanted, length), 0);
	CU_ASSERT_EQUAL(feeder->bss->feed.flow, flow);
	CU_ASSERT_EQUAL(feeder->bss->feed.kind, kind);
}

static void expect_frames(enum bench_family family)
{
	static const uint64_t flows[] = {0, 6, 131071, 131072, (UINT64_C(5) << 17) + 70000,
		UINT64_C(0xffffffff), UINT64_C(0x100000006), BENCH_FLOWS - 1};
	static const uint32_t sizes[] = {64, 101, 594, 1518}, services[] = {1, 7, 10000};
	struct bench_feed *feed;

	feeder_open(family);
	feed = &feeder->bss->feed;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		what.packet_size = sizes[i];
		for (size_t j = 0; j < sizeof(flows) / sizeof(flows[0]); j++) {
			what.services = services[j % 3];
			xdp_feed_shape(feed, &frames, 0);
			xdp_feed_in_turn(feed, flows[j], 1);
			expect_frame(flows[j], BENCH_FEED_ACK);
			feed->fresh = flows[j];
			feed->fresh_share = BENCH_FEED_WHOLE;
			expect_frame(flows[j], BENCH_FEED_SYN);
		}
	}
	bench_feeder_bpf__destroy(feeder);
	what.packet_size = 64;
}

static void fed_frame_is_the_flows_frame_whatever_was_in_front(void)
{
	expect_frames(BENCH_IPV4);
	expect_frames(BENCH_IPV6);
}

static void frames_in_turn_are_each_flow_once_and_then_the_first_again(void)
{
	feeder_open(BENCH_IPV4);
	xdp_feed_shape(&feeder->bss->feed, &frames, 0);
	xdp_feed_in_turn(&feeder->bss->feed, 1000, FLOWS);
	for (uint32_t i = 0; i < FLOWS; i++)
		expect_frame(1000 + i, BENCH_FEED_ACK);
	expect_frame(1000, BENCH_FEED_ACK);
	bench_feeder_bpf__destroy(feeder);
}

/* The chance that fair dice leave one of 64 out in 2000 throws is 64 * (63/64)^2000 = 1e-12. */
static void random_frames_are_of_every_flow_and_of_no_other(void)
{
	uint32_t seen[FLOWS] = {0}, most = 0;

	feeder_open(BENCH_IPV4);
	xdp_feed_shape(&feeder->bss->feed, &frames, 0);
	xdp_feed_at_random(&feeder->bss->feed, &what);
	for (uint32_t i = 0; i < VISITS; i++) {
		feeder_run();
		CU_ASSERT_FATAL(feeder->bss->feed.flow < FLOWS);
		seen[feeder->bss->feed.flow]++;
	}
	for (uint32_t i = 0; i < FLOWS; i++) {
		CU_ASSERT(seen[i] > 0);
		most = seen[i] > most ? seen[i] : most;
	}
	/* 31 on average, standard deviation 5.5. */
	CU_ASSERT(most < 62);
	bench_feeder_bpf__destroy(feeder);
}

static void share_of_new_flows_are_syns_of_flows_nobody_has_seen(void)
{
	uint64_t next = FLOWS;
	uint32_t fresh = 0;

	feeder_open(BENCH_IPV4);
	what.new_share = 0.25;
	xdp_feed_shape(&feeder->bss->feed, &frames, 0);
	xdp_feed_at_random(&feeder->bss->feed, &what);
	for (uint32_t i = 0; i < VISITS; i++) {
		feeder_run();
		if (feeder->bss->feed.flow < FLOWS) {
			CU_ASSERT_EQUAL(out[47], 0x10);
			continue;
		}
		CU_ASSERT_EQUAL(feeder->bss->feed.flow, next);
		CU_ASSERT_EQUAL(out[47], 0x02);
		next++;
		fresh++;
	}
	/* 500 on average, standard deviation 19. */
	CU_ASSERT(fresh > 400 && fresh < 600);
	what.new_share = 0;
	bench_feeder_bpf__destroy(feeder);
}

static void bound_moves_the_head_and_swaps_the_macs(void)
{
	static const uint8_t swapped[12] = {2, 0, 0, 0, 0, 10, 2, 0, 0, 0, 0, 2};
	uint8_t in[BENCH_FRAME_MAX];
	LIBBPF_OPTS(bpf_test_run_opts, options, .data_in = in, .data_size_in = 60, .data_out = out,
		.data_size_out = sizeof(out));

	feeder_open(BENCH_IPV4);
	bench_frame_write(&frames, 0, 0, 0, in);
	feeder->bss->bound_headroom = 20;
	CU_ASSERT_EQUAL(
		bpf_prog_test_run_opts(bpf_program__fd(feeder->progs.bench_bound), &options), 0);
	CU_ASSERT_EQUAL(options.retval, XDP_TX);
	CU_ASSERT_EQUAL(options.data_size_out, 80);
	CU_ASSERT_EQUAL(memcmp(out, swapped, sizeof(swapped)), 0);
	CU_ASSERT_EQUAL(memcmp(out + 34, in + 14, 46), 0);
	bench_feeder_bpf__destroy(feeder);
}

static void imix_is_three_sizes_seven_to_four_to_one(void)
{
	struct xdp_feed_size sizes[XDP_FEED_SIZES];
	uint32_t weight[3] = {0};

	what.family = BENCH_IPV4;
	what.packet_size = BENCH_SIZE_IMIX;
	CU_ASSERT_EQUAL_FATAL(xdp_feed_sizes(&frames, sizes), 3);
	for (uint32_t i = 0; i < 3; i++) {
		uint32_t length = bench_frame_length(&frames, sizes[i].number);

		weight[length == 60 ? 0 : length == 590 ? 1 : 2] = sizes[i].weight;
	}
	CU_ASSERT(weight[0] == 7 && weight[1] == 4 && weight[2] == 1);
	what.packet_size = 64;
	CU_ASSERT_EQUAL(xdp_feed_sizes(&frames, sizes), 1);
}

static const struct gw_test tests[] = {
	GW_TEST(fed_frame_is_the_flows_frame_whatever_was_in_front),
	GW_TEST(frames_in_turn_are_each_flow_once_and_then_the_first_again),
	GW_TEST(random_frames_are_of_every_flow_and_of_no_other),
	GW_TEST(share_of_new_flows_are_syns_of_flows_nobody_has_seen),
	GW_TEST(bound_moves_the_head_and_swaps_the_macs),
	GW_TEST(imix_is_three_sizes_seven_to_four_to_one),
};

GW_SUITE("bench_feeder", tests)
