/* SPDX-License-Identifier: BSD-2-Clause */
/* Expected headers are written out by hand and were compared with scapy's for the same fields. */
#include "abi/encap.h"

#include "abi/parse.h"
#include "frames.h"
#include "suite.h"

static const struct gw_backend backend_v4 = {.family = GW_IPV4,
	.overhead = 20,
	.outer_source = {{[10] = 0xff, 0xff, 10, 82, 0, 11}},
	.outer_destination = {{[10] = 0xff, 0xff, 10, 82, 0, 101}}};
static const struct gw_backend backend_v6 = {.family = GW_IPV6,
	.overhead = 40,
	.outer_source = {{0xfd, 0x82, [15] = 0x11}},
	.outer_destination = {{0xfd, 0x82, [14] = 0x01, 0x01}}};

static struct gw_packet parsed(const struct frame *frame)
{
	const uint8_t *end = frame->bytes + frame->length;
	struct gw_packet packet;

	CU_ASSERT_EQUAL_FATAL(gw_parse_destination(frame->bytes, end, &packet), GW_PARSE_OK);
	CU_ASSERT_EQUAL_FATAL(
		gw_parse_transport(frame->bytes, end, frame->length, &packet), GW_PARSE_OK);
	return packet;
}

/* RFC 1071, the plain way: a right header sums to 0xffff. */
static uint32_t header_sum(const uint8_t *header, size_t length)
{
	uint32_t sum = 0;

	for (size_t i = 0; i < length; i += 2)
		sum += (uint32_t)header[i] << 8 | header[i + 1];
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

static void ipv4_in_ipv4_without_df_mixes_the_hash_into_the_id(void)
{
	/* id 0x1234 ^ 0xbeef = 0xacdb */
	static const uint8_t expected[20] = {0x45, 0xb9, 0x00, 0x41, 0xac, 0xdb, 0x00, 0x00, 0x40,
		0x04, 0xb8, 0x11, 0x0a, 0x52, 0x00, 0x0b, 0x0a, 0x52, 0x00, 0x65};
	struct frame frame = frame_v4();
	struct gw_packet packet = parsed(&frame);
	uint8_t out[20];

	gw_encap_plain_v4(out, &backend_v4, &packet, 0x123456789abcbeefull);
	CU_ASSERT_EQUAL(memcmp(out, expected, 20), 0);
}

static void ipv4_in_ipv4_with_df_has_df_and_id_zero(void)
{
	static const uint8_t expected[20] = {0x45, 0xb9, 0x00, 0x41, 0x00, 0x00, 0x40, 0x00, 0x40,
		0x04, 0x24, 0xed, 0x0a, 0x52, 0x00, 0x0b, 0x0a, 0x52, 0x00, 0x65};
	struct frame frame = frame_v4();
	struct gw_packet packet;
	uint8_t out[20];

	frame_put16(&frame, 20, 0x4000);
	packet = parsed(&frame);
	gw_encap_plain_v4(out, &backend_v4, &packet, 0x123456789abcbeefull);
	CU_ASSERT_EQUAL(memcmp(out, expected, 20), 0);
}

static void ipv6_in_ipv4_sets_df(void)
{
	static const uint8_t expected[20] = {0x45, 0x5a, 0x00, 0x47, 0x00, 0x00, 0x40, 0x00, 0x40,
		0x29, 0x25, 0x21, 0x0a, 0x52, 0x00, 0x0b, 0x0a, 0x52, 0x00, 0x65};
	struct frame frame = frame_v6();
	struct gw_packet packet = parsed(&frame);
	uint8_t out[20];

	gw_encap_plain_v4(out, &backend_v4, &packet, 0xbeef);
	CU_ASSERT_EQUAL(memcmp(out, expected, 20), 0);
}

static void ipv6_outer_headers_carry_class_and_length_and_no_label(void)
{
	static const uint8_t expected_6in6[40] = {0x65, 0xa0, 0x00, 0x00, 0x00, 0x33, 0x29, 0x40,
		0xfd, 0x82, [23] = 0x11, 0xfd, 0x82, [38] = 0x01, 0x01};
	static const uint8_t expected_4in6[40] = {0x6b, 0x90, 0x00, 0x00, 0x00, 0x2d, 0x04, 0x40,
		0xfd, 0x82, [23] = 0x11, 0xfd, 0x82, [38] = 0x01, 0x01};
	struct frame v4 = frame_v4(), v6 = frame_v6();
	struct gw_packet packet = parsed(&v6);
	uint8_t out[40];

	gw_encap_plain_v6(out, &backend_v6, &packet);
	CU_ASSERT_EQUAL(memcmp(out, expected_6in6, 40), 0);
	packet = parsed(&v4);
	gw_encap_plain_v6(out, &backend_v6, &packet);
	CU_ASSERT_EQUAL(memcmp(out, expected_4in6, 40), 0);
}

/* Every id, so that each carry of the sum comes up, the double one as well. */
static void the_checksum_is_right_whatever_the_fields(void)
{
	struct gw_packet packet = {.family = GW_IPV4};
	struct gw_backend backend = backend_v4;
	unsigned int wrong = 0;
	uint8_t out[20];

	for (uint32_t id = 0; id < 65536; id++) {
		packet.ip_id = (uint16_t)id;
		packet.tos = (uint8_t)(id * 7);
		packet.l3_length = 20 + id % 65496;
		gw_wire_store32(backend.outer_destination.bytes + 12, id * 0x9e3779b1u);
		gw_encap_plain_v4(out, &backend, &packet, 0);
		wrong += header_sum(out, 20) != 0xffff;
	}
	CU_ASSERT_EQUAL(wrong, 0);
}

static void only_the_ip_length_counts_towards_the_outer_length(void)
{
	struct frame frame = frame_v4();
	struct gw_packet packet;
	uint8_t out[20];

	frame.length += 1; /* Ethernet's padding */
	packet = parsed(&frame);
	gw_encap_plain_v4(out, &backend_v4, &packet, 0);
	CU_ASSERT_EQUAL(out[3], 45 + 20);
}

static void the_largest_packet_is_the_mtu_less_the_outer_header(void)
{
	struct gw_packet packet = {.l3_length = 1480};

	CU_ASSERT_EQUAL(gw_encap_overhead_of(GW_ENCAP_IPIP, GW_IPV4), 20);
	CU_ASSERT_EQUAL(gw_encap_overhead_of(GW_ENCAP_IPIP, GW_IPV6), 40);
	CU_ASSERT_FALSE(gw_encap_too_big(&packet, &backend_v4, 1500));
	CU_ASSERT_FALSE(gw_encap_too_big(&packet, &backend_v4, 0));
	CU_ASSERT_TRUE(gw_encap_too_big(&packet, &backend_v6, 1500));
	packet.l3_length = 1481;
	CU_ASSERT_TRUE(gw_encap_too_big(&packet, &backend_v4, 1500));
	CU_ASSERT_TRUE(gw_encap_too_big(&packet, &backend_v4, 0));
	CU_ASSERT_FALSE(gw_encap_too_big(&packet, &backend_v4, 9000));
	packet.l3_length = 1460;
	CU_ASSERT_FALSE(gw_encap_too_big(&packet, &backend_v6, 0));
	packet.l3_length = 65535;
	CU_ASSERT_TRUE(gw_encap_too_big(&packet, &backend_v4, 65535));
}

static void the_lower_mtu_counts_and_an_unknown_one_does_not(void)
{
	CU_ASSERT_EQUAL(gw_mtu_lower(1400, 1500), 1400);
	CU_ASSERT_EQUAL(gw_mtu_lower(1500, 1400), 1400);
	CU_ASSERT_EQUAL(gw_mtu_lower(0, 1400), 1400);
	CU_ASSERT_EQUAL(gw_mtu_lower(1400, 0), 1400);
	CU_ASSERT_EQUAL(gw_mtu_lower(0, 0), 0);
}

static void the_ethernet_header_comes_from_the_link(void)
{
	static const uint8_t expected[14] = {2, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 0x86, 0xdd};
	struct gw_link live = {.destination_mac = {2, 1, 1, 1, 1, 1},
		.port = 7,
		.source_mac = {2, 2, 2, 2, 2, 2},
		.flags = GW_LINK_RESOLVED};
	struct gw_link link = gw_link_load(&live);
	uint8_t out[GW_ETH_HEADER + GW_VLAN_TAG];

	CU_ASSERT_EQUAL(link.port, 7);
	CU_ASSERT_EQUAL(link.flags, GW_LINK_RESOLVED);
	gw_encap_ethernet(out, &link, GW_IPV6);
	CU_ASSERT_EQUAL(memcmp(out, expected, 14), 0);
	gw_encap_ethernet(out, &link, GW_IPV4);
	CU_ASSERT_EQUAL(out[12] << 8 | out[13], 0x0800);
}

static const struct gw_test tests[] = {
	GW_TEST(ipv4_in_ipv4_without_df_mixes_the_hash_into_the_id),
	GW_TEST(ipv4_in_ipv4_with_df_has_df_and_id_zero),
	GW_TEST(ipv6_in_ipv4_sets_df),
	GW_TEST(ipv6_outer_headers_carry_class_and_length_and_no_label),
	GW_TEST(the_checksum_is_right_whatever_the_fields),
	GW_TEST(only_the_ip_length_counts_towards_the_outer_length),
	GW_TEST(the_largest_packet_is_the_mtu_less_the_outer_header),
	GW_TEST(the_lower_mtu_counts_and_an_unknown_one_does_not),
	GW_TEST(the_ethernet_header_comes_from_the_link),
};

GW_SUITE("encap", tests)
