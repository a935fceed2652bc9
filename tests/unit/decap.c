/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The decapsulator, run in the kernel by BPF_PROG_TEST_RUN on frames made here, as tc and as XDP
 * program alike: what comes out must be the inner packet byte for byte. Needs root.
 */
#include "abi/decap.h"

#include "decap.skel.h"
#include "suite.h"

#include <linux/bpf.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ETH	14
#define TC_PASS (-1)
#define TC_DROP 2
#define PAYLOAD 33 /* odd on purpose */

static struct decap_bpf *skel;

struct frame {
	uint8_t bytes[512];
	uint32_t length;
};

/* RFC 1071 over an even number of bytes. */
static uint16_t checksum(const uint8_t *bytes, size_t length)
{
	uint32_t sum = 0;

	for (size_t i = 0; i < length; i += 2)
		sum += bytes[i] << 8 | bytes[i + 1];
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)~sum;
}

static void put16(uint8_t *at, unsigned int value)
{
	at[0] = (uint8_t)(value >> 8);
	at[1] = (uint8_t)value;
}

static size_t header_v4(uint8_t *at, uint8_t protocol, uint8_t ecn, const char *source,
	const char *destination, size_t payload)
{
	memset(at, 0, 20);
	at[0] = 0x45;
	at[1] = 0xb8 | ecn; /* DSCP EF, so that a lost DSCP shows */
	put16(at + 2, (unsigned int)(20 + payload));
	put16(at + 4, 0x1234);
	put16(at + 6, 0x4000);
	at[8] = 61;
	at[9] = protocol;
	inet_pton(AF_INET, source, at + 12);
	inet_pton(AF_INET, destination, at + 16);
	put16(at + 10, checksum(at, 20));
	return 20;
}

static size_t header_v6(uint8_t *at, uint8_t protocol, uint8_t ecn, const char *source,
	const char *destination, size_t payload)
{
	memset(at, 0, 40);
	at[0] = 0x6b;
	at[1] = (uint8_t)(0x80 | ecn << 4 | 0x5); /* class 0xb8, flow label 0x5abcd */
	put16(at + 2, 0xabcd);
	put16(at + 4, (unsigned int)payload);
	at[6] = protocol;
	at[7] = 61;
	inet_pton(AF_INET6, source, at + 8);
	inet_pton(AF_INET6, destination, at + 24);
	return 40;
}

/* The client's packet for the service: UDP with PAYLOAD bytes. */
static size_t inner_make(uint8_t *at, bool ipv6, uint8_t ecn)
{
	size_t length = ipv6 ? header_v6(at, 17, ecn, "fd81::2", "2001:db8:113::10", 8 + PAYLOAD)
			     : header_v4(at, 17, ecn, "198.51.100.7", "203.0.113.10", 8 + PAYLOAD);

	put16(at + length, 40000);
	put16(at + length + 2, 53);
	put16(at + length + 4, 8 + PAYLOAD);
	put16(at + length + 6, 0xbeef);
	for (size_t i = 0; i < PAYLOAD; i++)
		at[length + 8 + i] = (uint8_t)(i * 7);
	return length + 8 + PAYLOAD;
}

static void ethernet_make(struct frame *frame, bool ipv6)
{
	/* test runs take place on lo, whose address is all zeros: to this host */
	static const uint8_t macs[12] = {0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 2};

	memcpy(frame->bytes, macs, sizeof(macs));
	put16(frame->bytes + 12, ipv6 ? 0x86dd : 0x0800);
}

/* A whole tunnel frame, and the frame that must come out of it when ECN changes nothing. */
static void tunnel_make(struct frame *in, struct frame *out, bool outer6, bool inner6,
	uint8_t outer_ecn, uint8_t inner_ecn)
{
	uint8_t protocol = inner6 ? 41 : 4;
	size_t inner, outer;

	ethernet_make(out, inner6);
	inner = inner_make(out->bytes + ETH, inner6, inner_ecn);
	out->length = (uint32_t)(ETH + inner);
	ethernet_make(in, outer6);
	outer = outer6 ? header_v6(in->bytes + ETH, protocol, outer_ecn, "fd82::11", "fd82::101",
				 inner)
		       : header_v4(in->bytes + ETH, protocol, outer_ecn, "10.82.0.11",
				 "10.82.0.101", inner);
	memcpy(in->bytes + ETH + outer, out->bytes + ETH, inner);
	in->length = (uint32_t)(ETH + outer + inner);
}

/* Drops only the checksum's change: for frames whose outer header a test altered. */
static void outer_checksum_set(struct frame *frame)
{
	size_t length = (frame->bytes[ETH] & 15u) * 4;

	put16(frame->bytes + ETH + 10, 0);
	put16(frame->bytes + ETH + 10, checksum(frame->bytes + ETH, length));
}

static uint64_t counter_read(enum gw_decap_counter counter)
{
	int cpus = libbpf_num_possible_cpus();
	struct gw_decap_count *values = calloc((size_t)cpus, sizeof(*values));
	uint32_t key = counter;
	uint64_t sum = 0;

	CU_ASSERT_EQUAL_FATAL(
		bpf_map_lookup_elem(bpf_map__fd(skel->maps.counters), &key, values), 0);
	for (int i = 0; i < cpus; i++)
		sum += values[i].packets;
	free(values);
	return sum;
}

static int program_run(bool xdp, const struct frame *in, struct frame *out)
{
	LIBBPF_OPTS(bpf_test_run_opts, run, .data_in = in->bytes, .data_size_in = in->length,
		.data_out = out->bytes, .data_size_out = sizeof(out->bytes), .repeat = 1);
	int fd = bpf_program__fd(xdp ? skel->progs.gw_decap_xdp : skel->progs.gw_decap_tc);

	CU_ASSERT_EQUAL_FATAL(bpf_prog_test_run_opts(fd, &run), 0);
	out->length = run.data_size_out;
	return (int)run.retval;
}

/* Both programs must pass the frame on as `want`, counting `counter` once each. */
static void expect_frame(
	const struct frame *in, const struct frame *want, enum gw_decap_counter counter)
{
	for (int xdp = 0; xdp < 2; xdp++) {
		uint64_t before = counter_read(counter);
		struct frame out;

		CU_ASSERT_EQUAL(program_run(xdp, in, &out), xdp ? (int)XDP_PASS : TC_PASS);
		CU_ASSERT_EQUAL(out.length, want->length);
		CU_ASSERT_EQUAL(memcmp(out.bytes, want->bytes, want->length), 0);
		CU_ASSERT_EQUAL(counter_read(counter), before + 1);
	}
}

static void expect_drop(const struct frame *in, enum gw_decap_counter counter)
{
	for (int xdp = 0; xdp < 2; xdp++) {
		uint64_t before = counter_read(counter);
		struct frame out;

		CU_ASSERT_EQUAL(program_run(xdp, in, &out), xdp ? (int)XDP_DROP : TC_DROP);
		CU_ASSERT_EQUAL(counter_read(counter), before + 1);
	}
}

/* Both programs must leave the frame alone and count nothing. */
static void expect_untouched(const struct frame *in)
{
	uint64_t before = 0, after = 0;

	for (uint32_t i = 0; i < GW_DECAP_COUNT; i++)
		before += counter_read(i);
	for (int xdp = 0; xdp < 2; xdp++) {
		struct frame out;

		CU_ASSERT_EQUAL(program_run(xdp, in, &out), xdp ? (int)XDP_PASS : TC_PASS);
		CU_ASSERT_EQUAL(out.length, in->length);
		CU_ASSERT_EQUAL(memcmp(out.bytes, in->bytes, in->length), 0);
	}
	for (uint32_t i = 0; i < GW_DECAP_COUNT; i++)
		after += counter_read(i);
	CU_ASSERT_EQUAL(before, after);
}

static void each_family_combination_yields_the_inner_packet(void)
{
	static const enum gw_decap_counter counters[2][2] = {
		{GW_DECAP_DECAP_4IN4, GW_DECAP_DECAP_6IN4},
		{GW_DECAP_DECAP_4IN6, GW_DECAP_DECAP_6IN6}};
	struct frame in, out;

	for (int outer6 = 0; outer6 < 2; outer6++)
		for (int inner6 = 0; inner6 < 2; inner6++) {
			tunnel_make(&in, &out, outer6, inner6, 0, 0);
			expect_frame(&in, &out, counters[outer6][inner6]);
		}
}

/* RFC 6040, figure 4: rows are the inner field, columns the outer one; -1 is a drop. */
static const int rfc6040[4][4] = {
	/* outer: Not-ECT, ECT(1), ECT(0), CE, by code point 0, 1, 2, 3 */
	{0, 0, 0, -1},
	{1, 1, 1, 3},
	{2, 1, 2, 3},
	{3, 3, 3, 3},
};

static void ecn_pair_check(bool outer6, bool inner6, int outer, int inner)
{
	static const enum gw_decap_counter counters[2][2] = {
		{GW_DECAP_DECAP_4IN4, GW_DECAP_DECAP_6IN4},
		{GW_DECAP_DECAP_4IN6, GW_DECAP_DECAP_6IN6}};
	int folded = rfc6040[inner][outer];
	struct frame in, out, unused;

	tunnel_make(&in, &out, outer6, inner6, (uint8_t)outer, (uint8_t)inner);
	if (folded < 0) {
		expect_drop(&in, GW_DECAP_ECN_NOT_ECT);
		return;
	}
	/* the packet that a client would have sent with the folded field: its checksum with it */
	tunnel_make(&unused, &out, outer6, inner6, (uint8_t)outer, (uint8_t)folded);
	expect_frame(&in, &out, counters[outer6][inner6]);
}

static void ecn_folds_by_the_table_of_rfc_6040(void)
{
	for (int families = 0; families < 4; families++)
		for (int outer = 0; outer < 4; outer++)
			for (int inner = 0; inner < 4; inner++)
				ecn_pair_check(families & 1, families >> 1, outer, inner);
}

static void a_copied_congestion_mark_is_counted(void)
{
	uint64_t before = counter_read(GW_DECAP_CE_COPIED);
	struct frame in, out, got;

	tunnel_make(&in, &out, false, true, 3, 2);
	program_run(false, &in, &got);
	program_run(true, &in, &got);
	tunnel_make(&in, &out, false, true, 3, 3);
	program_run(false, &in, &got);
	CU_ASSERT_EQUAL(counter_read(GW_DECAP_CE_COPIED), before + 2);
}

static void a_source_outside_the_prefixes_is_dropped(void)
{
	struct frame in, out;

	tunnel_make(&in, &out, false, false, 0, 0);
	in.bytes[ETH + 14] ^= 1; /* 10.82.1.11 */
	outer_checksum_set(&in);
	expect_drop(&in, GW_DECAP_NOT_ALLOWED);
	tunnel_make(&in, &out, true, false, 0, 0);
	in.bytes[ETH + 23] ^= 1; /* fd82::10, beside the one allowed host */
	expect_drop(&in, GW_DECAP_NOT_ALLOWED);
}

static void outer_lengths_that_cannot_be_are_malformed(void)
{
	struct frame in, out;

	tunnel_make(&in, &out, false, false, 0, 0);
	put16(in.bytes + ETH + 2, in.length - ETH + 1); /* longer than the frame */
	outer_checksum_set(&in);
	expect_drop(&in, GW_DECAP_MALFORMED);
	tunnel_make(&in, &out, false, false, 0, 0);
	put16(in.bytes + ETH + 2, 19); /* shorter than the header */
	outer_checksum_set(&in);
	expect_drop(&in, GW_DECAP_MALFORMED);
	tunnel_make(&in, &out, false, false, 0, 0);
	in.bytes[ETH] = 0x44; /* header of 16 bytes */
	expect_drop(&in, GW_DECAP_MALFORMED);
	tunnel_make(&in, &out, true, true, 0, 0);
	put16(in.bytes + ETH + 4, in.length - ETH - 40 + 1);
	expect_drop(&in, GW_DECAP_MALFORMED);
}

static void inner_lengths_that_cannot_be_are_malformed(void)
{
	struct frame in, out;

	tunnel_make(&in, &out, false, false, 0, 0);
	put16(in.bytes + ETH + 20 + 2, out.length - ETH + 1); /* longer than the outer payload */
	expect_drop(&in, GW_DECAP_MALFORMED);
	tunnel_make(&in, &out, false, false, 0, 0);
	in.bytes[ETH + 20] = 0x44;
	expect_drop(&in, GW_DECAP_MALFORMED);
	tunnel_make(&in, &out, false, false, 0, 0);
	put16(in.bytes + ETH + 20 + 2, 19);
	expect_drop(&in, GW_DECAP_MALFORMED);
	tunnel_make(&in, &out, true, true, 0, 0);
	put16(in.bytes + ETH + 40 + 4, out.length - ETH - 40 + 1);
	expect_drop(&in, GW_DECAP_MALFORMED);
}

static void an_inner_version_that_the_protocol_denies_is_malformed(void)
{
	struct frame in, out;

	tunnel_make(&in, &out, true, false, 0, 0);
	in.bytes[ETH + 6] = 41; /* says IPv6, carries IPv4 */
	expect_drop(&in, GW_DECAP_MALFORMED);
	tunnel_make(&in, &out, true, true, 0, 0);
	in.bytes[ETH + 6] = 4;
	expect_drop(&in, GW_DECAP_MALFORMED);
}

static void a_frame_cut_at_any_byte_is_malformed(void)
{
	for (int families = 0; families < 4; families++) {
		struct frame in, out;

		tunnel_make(&in, &out, families & 1, families >> 1, 0, 0);
		/* test runs want a whole IPv6 header */
		for (in.length--; in.length >= ETH + 40; in.length--)
			expect_drop(&in, GW_DECAP_MALFORMED);
	}
}

static void padding_behind_the_outer_packet_is_no_fault(void)
{
	struct frame in, out;

	tunnel_make(&in, &out, false, false, 0, 0);
	memset(in.bytes + in.length, 0, 6);
	memset(out.bytes + out.length, 0, 6);
	in.length += 6;
	out.length += 6; /* the stack cuts what the inner length does not cover */
	expect_frame(&in, &out, GW_DECAP_DECAP_4IN4);
}

static void options_of_the_outer_header_go_with_it(void)
{
	struct frame in, out;

	for (int inner6 = 0; inner6 < 2; inner6++) {
		tunnel_make(&in, &out, false, inner6, 0, 0);
		memmove(in.bytes + ETH + 60, in.bytes + ETH + 20, in.length - ETH - 20);
		memset(in.bytes + ETH + 20, 1, 40); /* no-operation options */
		in.length += 40;
		in.bytes[ETH] = 0x4f;
		put16(in.bytes + ETH + 2, in.length - ETH);
		outer_checksum_set(&in);
		expect_frame(&in, &out, inner6 ? GW_DECAP_DECAP_6IN4 : GW_DECAP_DECAP_4IN4);
	}
}

static void a_wrong_outer_checksum_is_dropped(void)
{
	struct frame in, out;

	tunnel_make(&in, &out, false, false, 0, 0);
	in.bytes[ETH + 8] ^= 1;
	expect_drop(&in, GW_DECAP_OUTER_CHECKSUM);
}

static void outer_fragments_are_dropped(void)
{
	struct frame in, out;

	tunnel_make(&in, &out, false, false, 0, 0);
	put16(in.bytes + ETH + 6, 0x2000); /* more fragments */
	outer_checksum_set(&in);
	expect_drop(&in, GW_DECAP_OUTER_FRAGMENT);
	put16(in.bytes + ETH + 6, 0x0001); /* offset 8 */
	outer_checksum_set(&in);
	expect_drop(&in, GW_DECAP_OUTER_FRAGMENT);
}

static void what_is_no_tunnel_packet_passes_untouched(void)
{
	struct frame in, out;

	tunnel_make(&in, &out, false, false, 0, 0);
	expect_untouched(&out); /* plain UDP over IPv4 */
	tunnel_make(&in, &out, false, true, 0, 0);
	expect_untouched(&out); /* and over IPv6 */
	put16(in.bytes + 12, 0x0806);
	expect_untouched(&in); /* ARP */
	put16(in.bytes + 12, 0x8100);
	expect_untouched(&in); /* a tagged frame */
}

static const struct gw_test tests[] = {
	GW_TEST(each_family_combination_yields_the_inner_packet),
	GW_TEST(ecn_folds_by_the_table_of_rfc_6040),
	GW_TEST(a_copied_congestion_mark_is_counted),
	GW_TEST(a_source_outside_the_prefixes_is_dropped),
	GW_TEST(outer_lengths_that_cannot_be_are_malformed),
	GW_TEST(inner_lengths_that_cannot_be_are_malformed),
	GW_TEST(an_inner_version_that_the_protocol_denies_is_malformed),
	GW_TEST(a_frame_cut_at_any_byte_is_malformed),
	GW_TEST(padding_behind_the_outer_packet_is_no_fault),
	GW_TEST(options_of_the_outer_header_go_with_it),
	GW_TEST(a_wrong_outer_checksum_is_dropped),
	GW_TEST(outer_fragments_are_dropped),
	GW_TEST(what_is_no_tunnel_packet_passes_untouched),
};

/* 10.82.0.0/24 and fd82::11/128 are the balancers. */
static bool sources_allow(void)
{
	struct gw_decap_source v4 = {.bits = 96 + 24}, v6 = {.bits = 128};
	int fd = bpf_map__fd(skel->maps.sources);
	uint32_t one = 1;

	inet_pton(AF_INET6, "::ffff:10.82.0.0", v4.address);
	inet_pton(AF_INET6, "fd82::11", v6.address);
	return !bpf_map_update_elem(fd, &v4, &one, BPF_ANY) &&
	       !bpf_map_update_elem(fd, &v6, &one, BPF_ANY);
}

int main(int argc, char **argv)
{
	int ret = 1;

	skel = decap_bpf__open();
	if (skel)
		skel->rodata->modes = GW_DECAP_MODES_ALL;
	if (!skel || decap_bpf__load(skel) || !sources_allow())
		fprintf(stderr, "decap: cannot load the programs: %s (root?)\n", strerror(errno));
	else
		ret = gw_suite_run("decap", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
	decap_bpf__destroy(skel);
	return ret;
}
