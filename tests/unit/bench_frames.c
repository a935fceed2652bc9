/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * guideway-bench's frames, and its eye for what the balancer made of them. The frames below were
 * put together by another packet library (scapy), checksums included.
 */
#include "control/builder.h"
#include "suite.h"
#include "tools/bench/core/bench.h"

#include <stdio.h>
#include <string.h>

/* Port 1024 + 5, client 70000 = 0x11170, and of seven services the last one. */
#define FLOW	 ((UINT64_C(5) << 17) + 70000)
#define SERVICES 7
#define BACKENDS 4
#define SYN	 0x02

static const char ipv4_ack[] = "02000000000202000000000a0800"
			       "4500002e000040003f06283fc6131170cb007107"
			       "0405005000000001000000015010200068dd0000"
			       "5a5a5a5a5a5a";
static const char ipv6_syn[] = "02000000000202000000000a86dd"
			       "600000000014063f"
			       "20010002000000000000000000011170"
			       "20010db8011300000000000000000007"
			       "040500500000000100000000500220002b460000";

/* What stands before the inner packet; backend 3 in all of them. */
static const struct tunnel {
	const char *encap;
	enum bench_family family;
	const char *header;
	/* Bytes that the balancer may choose (GUE's entropy), from and to; 0: none. */
	uint32_t free_first, free_last;
} tunnels[] = {
	{"ipip", BENCH_IPV4,
		"0200000000010200000000020800"
		"4500004200004000400425070a52000b0a520103",
		0, 0},
	{"ipip", BENCH_IPV6,
		"02000000000102000000000286dd"
		"60000000003c2940fd820000000000000000000000000011"
		"fd820000000000000000000000010003",
		0, 0},
	{"gue", BENCH_IPV4,
		"0200000000010200000000020800"
		"4500004a00004000401124f20a52000b0a520103"
		"c12317c000360000",
		34, 35},
	{"gue", BENCH_IPV6,
		"02000000000102000000000286dd"
		"6000000000441140fd820000000000000000000000000011"
		"fd820000000000000000000000010003"
		"c12317c00044c52e",
		0, 0},
	{"gre", BENCH_IPV4,
		"0200000000010200000000020800"
		"4500004600004000402f24d80a52000b0a520103"
		"00000800",
		0, 0},
	{"gre", BENCH_IPV6,
		"02000000000102000000000286dd"
		"6000000000402f40fd820000000000000000000000000011"
		"fd820000000000000000000000010003"
		"000086dd",
		0, 0},
	{"l2", BENCH_IPV4, "0200010001030200000000020800", 0, 0},
	{"l2", BENCH_IPV6, "02000100000302000000000286dd", 0, 0},
};

#define TUNNELS (sizeof(tunnels) / sizeof(tunnels[0]))

static uint32_t bytes_of(const char *text, uint8_t *bytes)
{
	uint32_t length = (uint32_t)strlen(text) / 2;

	for (uint32_t i = 0; i < length; i++) {
		unsigned int byte = 0;

		sscanf(text + 2 * i, "%2x", &byte);
		bytes[i] = (uint8_t)byte;
	}
	return length;
}

static struct bench_case case_of(const char *encap, enum bench_family family)
{
	return (struct bench_case){.path = "dpdk",
		.mode = "cpu",
		.family = family,
		.encap = encap,
		.packet_size = 64,
		.flows = 1000000,
		.services = SERVICES,
		.pools = 1,
		.backends = BACKENDS,
		.table_size = 251};
}

static struct bench_frames frames_of(const struct bench_case *what)
{
	return (struct bench_frames){
		.what = what, .destination_mac = BENCH_OUR_MAC, .source_mac = {2, 0, 0, 0, 0, 10}};
}

static const char *input_of(const struct tunnel *tunnel)
{
	return tunnel->family == BENCH_IPV6 ? ipv6_syn : ipv4_ack;
}

static uint8_t flags_of(const struct tunnel *tunnel)
{
	return tunnel->family == BENCH_IPV6 ? SYN : 0;
}

/* The right output of a tunnel; returns its length. */
static uint32_t output_of(const struct tunnel *tunnel, uint8_t *out)
{
	uint8_t in[BENCH_FRAME_MAX];
	uint32_t header = bytes_of(tunnel->header, out);
	uint32_t length = bytes_of(input_of(tunnel), in);

	memcpy(out + header, in + 14, length - 14);
	return header + length - 14;
}

static void frames_are_what_another_library_makes(void)
{
	for (size_t i = 0; i < 2; i++) {
		struct bench_case what = case_of("ipip", tunnels[i].family);
		struct bench_frames frames = frames_of(&what);
		uint8_t want[BENCH_FRAME_MAX], got[BENCH_FRAME_MAX];
		uint32_t length = bytes_of(input_of(&tunnels[i]), want);

		memset(got, 0xee, sizeof(got));
		CU_ASSERT_EQUAL(
			bench_frame_write(&frames, FLOW, 0, flags_of(&tunnels[i]), got), length);
		CU_ASSERT_EQUAL(memcmp(got, want, length), 0);
	}
}

static void flows_differ_in_address_port_and_service(void)
{
	struct bench_case what = case_of("ipip", BENCH_IPV4);
	struct bench_frames frames = frames_of(&what);
	uint8_t frame[BENCH_FRAME_MAX];
	static const uint8_t first[] = {198, 18, 0, 0, 203, 0, 113, 1, 0x04, 0x00};
	/* The very last one: client 2^17 - 1, port 65535, and 64512 * 2^17 - 1 = 6 mod 7. */
	static const uint8_t last[] = {198, 19, 255, 255, 203, 0, 113, 7, 0xff, 0xff};

	bench_frame_write(&frames, 0, 0, 0, frame);
	CU_ASSERT_EQUAL(memcmp(frame + 26, first, sizeof(first)), 0);
	bench_frame_write(&frames, BENCH_FLOWS - 1, 0, 0, frame);
	CU_ASSERT_EQUAL(memcmp(frame + 26, last, sizeof(last)), 0);
}

static void sizes_count_the_check_sequence(void)
{
	static const uint16_t sizes[] = {64, 65, 128, 256, 512, 1024, 1518};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct bench_case what = case_of("ipip", BENCH_IPV4);
		struct bench_frames frames = frames_of(&what);
		uint8_t frame[BENCH_FRAME_MAX];
		uint32_t sum = 6, length;

		what.packet_size = sizes[i];
		length = bench_frame_write(&frames, FLOW, 0, 0, frame);
		CU_ASSERT_EQUAL(length, sizes[i] - 4u);
		CU_ASSERT_EQUAL(frame[16] << 8 | frame[17], sizes[i] - 18);
		/* TCP's checksum over the pseudo header and all that follows (RFC 9293). */
		sum += length - 34;
		for (uint32_t at = 26; at + 1 < length; at += 2)
			sum += (uint32_t)frame[at] << 8 | frame[at + 1];
		if (length & 1)
			sum += (uint32_t)frame[length - 1] << 8;
		while (sum >> 16)
			sum = (sum & 0xffff) + (sum >> 16);
		CU_ASSERT_EQUAL(sum, 0xffff);
	}
}

static void shortest_ipv6_frame_holds_its_headers(void)
{
	struct bench_case what = case_of("ipip", BENCH_IPV6);
	struct bench_frames frames = frames_of(&what);

	CU_ASSERT_EQUAL(bench_frame_length(&frames, 0), 74);
	what.packet_size = 128;
	CU_ASSERT_EQUAL(bench_frame_length(&frames, 0), 124);
}

static void imix_is_seven_four_and_one_of_twelve(void)
{
	struct bench_case what = case_of("ipip", BENCH_IPV4);
	struct bench_frames frames = frames_of(&what);
	uint32_t small = 0, middle = 0, large = 0;

	what.packet_size = BENCH_SIZE_IMIX;
	for (uint64_t i = 0; i < 24; i++) {
		uint32_t length = bench_frame_length(&frames, i);

		small += length == 60;
		middle += length == 590;
		large += length == 1514;
	}
	CU_ASSERT_EQUAL(small, 14);
	CU_ASSERT_EQUAL(middle, 8);
	CU_ASSERT_EQUAL(large, 2);
}

static void every_right_encapsulation_is_recognised(void)
{
	for (size_t i = 0; i < TUNNELS; i++) {
		struct bench_case what = case_of(tunnels[i].encap, tunnels[i].family);
		struct bench_frames frames = frames_of(&what);
		uint8_t out[BENCH_FRAME_MAX + 64];
		uint32_t length = output_of(&tunnels[i], out);
		uint64_t flow = 0;

		CU_ASSERT_TRUE(
			bench_frame_right(&frames, FLOW, 0, flags_of(&tunnels[i]), out, length));
		CU_ASSERT_TRUE(bench_frame_judge(&frames, out, length, &flow));
		CU_ASSERT_EQUAL(flow, FLOW);
		/* Of another flow it would be wrong. */
		CU_ASSERT_FALSE(bench_frame_right(
			&frames, FLOW + 1, 0, flags_of(&tunnels[i]), out, length));
	}
}

static void any_flipped_bit_is_noticed(void)
{
	for (size_t i = 0; i < TUNNELS; i++) {
		struct bench_case what = case_of(tunnels[i].encap, tunnels[i].family);
		struct bench_frames frames = frames_of(&what);
		uint8_t out[BENCH_FRAME_MAX + 64];
		uint32_t length = output_of(&tunnels[i], out);

		for (uint32_t bit = 0; bit < length * 8; bit++) {
			uint32_t at = bit / 8;
			bool right;

			/* l2: another backend's MAC is as good; IPv6 without a checksum: as well.
			 */
			if (at && at >= tunnels[i].free_first && at <= tunnels[i].free_last)
				continue;
			out[at] ^= (uint8_t)(1 << bit % 8);
			right = bench_frame_right(
				&frames, FLOW, 0, flags_of(&tunnels[i]), out, length);
			out[at] ^= (uint8_t)(1 << bit % 8);
			/* Another backend is as good, where no checksum covers it. */
			if (right && !strcmp(tunnels[i].encap, "l2") && at == 5 && bit % 8 < 2)
				continue;
			if (right && tunnels[i].family == BENCH_IPV6 && at == 53 && bit % 8 < 2)
				continue;
			if (right)
				printf("%s IPv%d: byte %u\n", tunnels[i].encap, tunnels[i].family,
					at);
			CU_ASSERT_FALSE(right);
		}
	}
}

static void cut_or_padded_output_is_wrong(void)
{
	for (size_t i = 0; i < TUNNELS; i++) {
		struct bench_case what = case_of(tunnels[i].encap, tunnels[i].family);
		struct bench_frames frames = frames_of(&what);
		uint8_t out[BENCH_FRAME_MAX + 64] = {0};
		uint32_t length = output_of(&tunnels[i], out);

		for (uint32_t other = 0; other <= length + 4; other++)
			if (other != length)
				CU_ASSERT_FALSE(bench_frame_judge(&frames, out, other, NULL));
	}
}

static void backend_of_no_pool_is_wrong(void)
{
	for (size_t i = 0; i < TUNNELS; i++) {
		struct bench_case what = case_of(tunnels[i].encap, tunnels[i].family);
		struct bench_frames frames = frames_of(&what);
		uint8_t out[BENCH_FRAME_MAX + 64];
		uint32_t length = output_of(&tunnels[i], out);

		what.backends = 3; /* 0 to 2, and it went to 3 */
		CU_ASSERT_FALSE(bench_frame_judge(&frames, out, length, NULL));
	}
}

static void unchanged_input_is_no_encapsulation(void)
{
	for (size_t i = 0; i < TUNNELS; i++) {
		struct bench_case what = case_of(tunnels[i].encap, tunnels[i].family);
		struct bench_frames frames = frames_of(&what);
		uint8_t in[BENCH_FRAME_MAX];
		uint32_t length = bench_frame_write(&frames, FLOW, 0, 0, in);

		CU_ASSERT_FALSE(bench_frame_judge(&frames, in, length, NULL));
	}
}

static void model_has_what_the_case_says(void)
{
	struct bench_case what = case_of("gue", BENCH_IPV6);
	char message[BENCH_MESSAGE] = "";
	struct gw_build *first = NULL, *second = NULL;

	what.pools = 3;
	CU_ASSERT_EQUAL_FATAL(bench_build(&what, 1, &first, message), 0);
	CU_ASSERT_EQUAL_FATAL(bench_build(&what, 2, &second, message), 0);
	CU_ASSERT_EQUAL(first->service_count, SERVICES);
	CU_ASSERT_EQUAL_FATAL(first->pool_count, 3);
	CU_ASSERT_EQUAL(second->version, 2);
	for (size_t i = 0; i < 3; i++) {
		CU_ASSERT_EQUAL(first->pools[i].backend_count, BACKENDS);
		CU_ASSERT_EQUAL(first->pools[i].table_size, 251);
		CU_ASSERT_EQUAL(first->pools[i].encap, GW_ENCAP_GUE);
		/* A swap of every table. */
		CU_ASSERT_NOT_EQUAL(memcmp(&first->pools[i].digest, &second->pools[i].digest,
					    sizeof(first->pools[i].digest)),
			0);
	}
	CU_ASSERT_EQUAL(first->services[6].pool, 0);
	CU_ASSERT_EQUAL(first->services[5].pool, 2);
	gw_build_free(first);
	gw_build_free(second);
}

static void impossible_model_says_why(void)
{
	struct bench_case what = case_of("ipip", BENCH_IPV4);
	char message[BENCH_MESSAGE] = "";
	struct gw_build *build = NULL;

	what.table_size = 250;
	CU_ASSERT_NOT_EQUAL(bench_build(&what, 1, &build, message), 0);
	CU_ASSERT_PTR_NULL(build);
	CU_ASSERT_PTR_NOT_NULL(strstr(message, "250"));
}

static const struct gw_test tests[] = {
	GW_TEST(frames_are_what_another_library_makes),
	GW_TEST(flows_differ_in_address_port_and_service),
	GW_TEST(sizes_count_the_check_sequence),
	GW_TEST(shortest_ipv6_frame_holds_its_headers),
	GW_TEST(imix_is_seven_four_and_one_of_twelve),
	GW_TEST(every_right_encapsulation_is_recognised),
	GW_TEST(any_flipped_bit_is_noticed),
	GW_TEST(cut_or_padded_output_is_wrong),
	GW_TEST(backend_of_no_pool_is_wrong),
	GW_TEST(unchanged_input_is_no_encapsulation),
	GW_TEST(model_has_what_the_case_says),
	GW_TEST(impossible_model_says_why),
};

GW_SUITE("bench_frames", tests)
