/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The generator's frames: their numbers, their checksums, and what it makes of frames that come
 * back. Outer headers are written here by hand.
 */
#include "suite.h"
#include "tools/bench/ends/generator.h"

#include <stdlib.h>
#include <string.h>

#define FLOWS 100
#define ROOM  (BENCH_FRAME_MAX + 64)
#define SYN   0x02
#define ACK   0x10

static struct generator *generator;

static void start(enum bench_family family, uint32_t size, double new_share)
{
	static struct bench_case what;

	what = (struct bench_case){.path = "dpdk",
		.mode = "link",
		.family = family,
		.encap = "ipip",
		.packet_size = size,
		.flows = FLOWS,
		.new_share = new_share,
		.services = 1,
		.pools = 1,
		.backends = 3,
		.table_size = 251};
	generator = calloc(1, sizeof(*generator));
	CU_ASSERT_PTR_NOT_NULL_FATAL(generator);
	generator->frames = (struct bench_frames){
		.what = &what, .destination_mac = BENCH_OUR_MAC, .source_mac = BENCH_OTHER_MAC};
	CU_ASSERT_EQUAL_FATAL(generator_slots_make(generator), 0);
}

static void stop(void)
{
	generator_slots_free(generator);
	free(generator);
	generator = NULL;
}

static uint16_t word(const uint8_t *at)
{
	return (uint16_t)(at[0] << 8 | at[1]);
}

/* RFC 9293: the sum over addresses, protocol, length and segment is all ones. */
static bool tcp_checksum_right(const uint8_t *frame, uint32_t length)
{
	uint32_t tcp = generator->tcp, addresses = generator->tcp == 34 ? 8 : 32;
	uint32_t sum = 6 + (length - tcp);

	for (uint32_t i = tcp - addresses; i + 1 < length; i += 2)
		sum += word(frame + i);
	if (length & 1)
		sum += (uint32_t)frame[length - 1] << 8;
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum == 0xffff;
}

/* The next frame as it leaves: its payload is in the buffer already. */
static uint32_t next(uint8_t *frame, uint32_t number, uint8_t flags)
{
	uint32_t length;

	memset(frame, 0x5a, ROOM);
	length = generator_frame_next(generator, frame, flags);
	generator_number_put(generator, frame, number);
	return length;
}

static void swap_macs(uint8_t *frame)
{
	uint8_t kept[6];

	memcpy(kept, frame, 6);
	memcpy(frame, frame + 6, 6);
	memcpy(frame + 6, kept, 6);
}

/* IPv4 in IPv4 to backend 1, as RFC 2003 has it. */
static uint32_t encapsulate(uint8_t *frame, uint32_t length)
{
	uint8_t outer[34] = {2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0, 0x45, 0, 0, 0, 0, 0, 0x40, 0,
		64, 4, 0, 0, 10, 82, 0, 11, 10, 82, 1, 1};
	uint32_t inner = length - 14, sum = 0;

	outer[16] = (uint8_t)((inner + 20) >> 8);
	outer[17] = (uint8_t)(inner + 20);
	for (int i = 14; i < 34; i += 2)
		sum += word(outer + i);
	sum = (sum & 0xffff) + (sum >> 16);
	outer[24] = (uint8_t)(~sum >> 8);
	outer[25] = (uint8_t)~sum;
	memmove(frame + 34, frame + 14, inner);
	memcpy(frame, outer, sizeof(outer));
	return inner + 34;
}

static void every_number_leaves_the_checksum_right(void)
{
	static const uint32_t numbers[] = {
		0, 1, 0xffff, 0x10000, 0x7fffffff, 0xfffffffe, 0xffffffff};
	static const enum bench_family families[] = {BENCH_IPV4, BENCH_IPV6};
	static const uint32_t sizes[] = {64, 65, 128, 1518, BENCH_SIZE_IMIX};
	uint8_t frame[ROOM];

	for (int family = 0; family < 2; family++)
		for (int size = 0; size < 5; size++) {
			start(families[family], sizes[size], 0.25);
			for (int i = 0; i < 3 * FLOWS; i++) {
				uint32_t length = next(frame, numbers[i % 7], i % 2 ? SYN : 0);

				CU_ASSERT_TRUE(tcp_checksum_right(frame, length));
			}
			stop();
		}
}

static void each_flow_is_sent_once_before_any_comes_again(void)
{
	uint8_t frame[ROOM];
	bool seen[FLOWS] = {};
	uint32_t in_place = 0;

	start(BENCH_IPV4, 64, 0);
	for (uint32_t i = 0; i < FLOWS; i++) {
		uint32_t client;

		next(frame, i, 0);
		client = word(frame + 28); /* the low half of 198.18.0.0 + flow */
		CU_ASSERT_TRUE_FATAL(client < FLOWS && !seen[client]);
		seen[client] = true;
		in_place += client == i;
	}
	CU_ASSERT_TRUE(in_place < FLOWS / 2); /* in no order */
	stop();
}

static void the_share_of_new_flows_is_sent_as_syn_of_flows_never_seen(void)
{
	uint8_t frame[ROOM];
	uint32_t opened = 0, last = FLOWS - 1;

	start(BENCH_IPV4, 64, 0.25);
	for (uint32_t i = 0; i < 400; i++) {
		next(frame, i, 0);
		if (frame[34 + 13] != SYN)
			continue;
		opened++;
		CU_ASSERT_EQUAL(word(frame + 28), last + 1);
		last++;
	}
	CU_ASSERT_EQUAL(opened, 100);
	stop();
}

static void a_number_comes_back_through_either_subject(void)
{
	uint8_t frame[ROOM];
	uint32_t length, number = 0;

	start(BENCH_IPV4, 64, 0);
	length = next(frame, 0x12345678, 0);
	CU_ASSERT_TRUE(generator_number_get(
		generator, generator_shift(generator, BENCH_BOUND), frame, length, &number));
	CU_ASSERT_EQUAL(number, 0x12345678);
	length = encapsulate(frame, length);
	number = 0;
	CU_ASSERT_TRUE(generator_number_get(
		generator, generator_shift(generator, BENCH_BALANCER), frame, length, &number));
	CU_ASSERT_EQUAL(number, 0x12345678);
	stop();
}

static void a_frame_of_others_has_no_number(void)
{
	uint8_t frame[ROOM] = {0x33, 0x33, 0, 0, 0, 1, [12] = 0x86, 0xdd};
	uint32_t number;

	start(BENCH_IPV4, 64, 0);
	CU_ASSERT_FALSE(generator_number_get(generator, 0, frame, 86, &number));
	CU_ASSERT_FALSE(generator_number_get(generator, 0, frame, 20, &number));
	stop();
}

static void the_bounds_frame_is_right_with_macs_swapped_and_nothing_else(void)
{
	uint8_t frame[ROOM];
	uint32_t length;

	start(BENCH_IPV4, 128, 0);
	length = next(frame, 77, 0);
	CU_ASSERT_FALSE(generator_frame_right(generator, BENCH_BOUND, frame, length));
	swap_macs(frame);
	CU_ASSERT_TRUE(generator_frame_right(generator, BENCH_BOUND, frame, length));
	CU_ASSERT_FALSE(generator_frame_right(generator, BENCH_BALANCER, frame, length));
	frame[100] ^= 1;
	CU_ASSERT_FALSE(generator_frame_right(generator, BENCH_BOUND, frame, length));
	stop();
}

static void the_balancers_frame_is_right_only_byte_for_byte(void)
{
	uint8_t frame[ROOM], copy[ROOM];
	uint32_t length;

	start(BENCH_IPV4, BENCH_SIZE_IMIX, 0);
	for (int i = 0; i < 12; i++) {
		length = encapsulate(frame, next(frame, 0xdeadbeef, 0));
		CU_ASSERT_TRUE(generator_frame_right(generator, BENCH_BALANCER, frame, length));
		CU_ASSERT_FALSE(generator_frame_right(generator, BENCH_BOUND, frame, length));
		for (uint32_t byte = 0; byte < length; byte++) {
			memcpy(copy, frame, length);
			copy[byte] ^= 0x10;
			if (byte >= 34 + 20 + 4 && byte < 34 + 20 + 12)
				continue; /* the number */
			CU_ASSERT_FALSE(
				generator_frame_right(generator, BENCH_BALANCER, copy, length));
		}
	}
	stop();
}

static const struct gw_test tests[] = {
	GW_TEST(every_number_leaves_the_checksum_right),
	GW_TEST(each_flow_is_sent_once_before_any_comes_again),
	GW_TEST(the_share_of_new_flows_is_sent_as_syn_of_flows_never_seen),
	GW_TEST(a_number_comes_back_through_either_subject),
	GW_TEST(a_frame_of_others_has_no_number),
	GW_TEST(the_bounds_frame_is_right_with_macs_swapped_and_nothing_else),
	GW_TEST(the_balancers_frame_is_right_only_byte_for_byte),
};

GW_SUITE("bench_generator", tests)
