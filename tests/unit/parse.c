/* SPDX-License-Identifier: BSD-2-Clause */
#include "abi/parse.h"

#include "abi/flow_word.h"
#include "frames.h"
#include "suite.h"

#include <stdlib.h>

/* Both steps; the copy of exact size lets the address sanitizer see a read behind the end. */
static int parse(const struct frame *frame, struct gw_packet *packet)
{
	uint8_t *copy = malloc(frame->length ? frame->length : 1);
	int result;

	memcpy(copy, frame->bytes, frame->length);
	result = gw_parse_destination(copy, copy + frame->length, packet);
	if (result == GW_PARSE_OK)
		result = gw_parse_transport(copy, copy + frame->length, frame->length, packet);
	free(copy);
	return result;
}

static int parse_result(const struct frame *frame)
{
	struct gw_packet packet;

	return parse(frame, &packet);
}

static void an_ipv4_packet_is_read_field_by_field(void)
{
	static const uint8_t source[16] = {[10] = 0xff, 0xff, 198, 51, 100, 7};
	static const uint8_t destination[16] = {[10] = 0xff, 0xff, 203, 0, 113, 10};
	struct frame frame = frame_v4();
	struct gw_packet packet;

	CU_ASSERT_EQUAL(parse(&frame, &packet), GW_PARSE_OK);
	CU_ASSERT_EQUAL(memcmp(&packet.key.source, source, 16), 0);
	CU_ASSERT_EQUAL(memcmp(&packet.key.destination, destination, 16), 0);
	CU_ASSERT_EQUAL(packet.key.source_port, GW_HTONS(40000));
	CU_ASSERT_EQUAL(packet.key.destination_port, GW_HTONS(80));
	CU_ASSERT_EQUAL(packet.key.protocol, GW_PROTO_TCP);
	CU_ASSERT_EQUAL(packet.l3_offset, 14);
	CU_ASSERT_EQUAL(packet.l4_offset, 34);
	CU_ASSERT_EQUAL(packet.l3_length, 45);
	CU_ASSERT_EQUAL(packet.family, GW_IPV4);
	CU_ASSERT_EQUAL(packet.tcp_flags, GW_TCP_SYN);
	CU_ASSERT_EQUAL(packet.tos, 0xb9);
	CU_ASSERT_EQUAL(packet.ttl, 55);
	CU_ASSERT_EQUAL(packet.ip_id, 0x1234);
	CU_ASSERT_FALSE(packet.dont_fragment);
	CU_ASSERT_FALSE(packet.fragment);
	CU_ASSERT_FALSE(packet.link_multicast);
}

static void an_ipv6_packet_is_read_field_by_field(void)
{
	struct frame frame = frame_v6();
	struct gw_packet packet;

	CU_ASSERT_EQUAL(parse(&frame, &packet), GW_PARSE_OK);
	CU_ASSERT_EQUAL(memcmp(&packet.key.source, frame.bytes + 22, 16), 0);
	CU_ASSERT_EQUAL(memcmp(&packet.key.destination, frame.bytes + 38, 16), 0);
	CU_ASSERT_EQUAL(packet.key.source_port, GW_HTONS(5353));
	CU_ASSERT_EQUAL(packet.key.destination_port, GW_HTONS(443));
	CU_ASSERT_EQUAL(packet.key.protocol, GW_PROTO_UDP);
	CU_ASSERT_EQUAL(packet.l4_offset, 54);
	CU_ASSERT_EQUAL(packet.l3_length, 51);
	CU_ASSERT_EQUAL(packet.family, GW_IPV6);
	CU_ASSERT_EQUAL(packet.tos, 0x5a);
	CU_ASSERT_EQUAL(packet.ttl, 64);
	CU_ASSERT_TRUE(packet.dont_fragment);
}

static void vlan_tags_change_the_offset_and_nothing_else(void)
{
	static const uint8_t tag[4] = {0x81, 0x00, 0x00, 0x64}, outer[4] = {0x88, 0xa8, 0x00, 0x0a};
	struct frame frame = frame_v4();
	struct gw_packet untagged, tagged, stacked;

	CU_ASSERT_EQUAL(parse(&frame, &untagged), GW_PARSE_OK);
	frame_insert(&frame, 12, tag, 4);
	CU_ASSERT_EQUAL(parse(&frame, &tagged), GW_PARSE_OK);
	CU_ASSERT_EQUAL(tagged.l3_offset, 18);
	CU_ASSERT_EQUAL(memcmp(&tagged.key, &untagged.key, sizeof(tagged.key)), 0);
	frame_insert(&frame, 12, outer, 4);
	CU_ASSERT_EQUAL(parse(&frame, &stacked), GW_PARSE_OK);
	CU_ASSERT_EQUAL(stacked.l3_offset, 22);
	CU_ASSERT_EQUAL(memcmp(&stacked.key, &untagged.key, sizeof(tagged.key)), 0);
	frame_insert(&frame, 12, outer, 4);
	CU_ASSERT_EQUAL(parse_result(&frame), GW_PARSE_HOST);
}

static void what_is_not_ip_is_the_hosts(void)
{
	static const uint16_t types[] = {0x0806, 0x88cc, 0x0600, 0x0026, 0xffff};
	struct frame frame = frame_v4();

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		frame_put16(&frame, 12, types[i]);
		CU_ASSERT_EQUAL(parse_result(&frame), GW_PARSE_HOST);
	}
}

static void a_frame_cut_before_its_addresses_is_the_hosts(void)
{
	struct frame v4 = frame_v4(), v6 = frame_v6();

	for (v4.length = 14; v4.length < 34; v4.length++)
		CU_ASSERT_EQUAL(parse_result(&v4), GW_PARSE_HOST);
	for (v6.length = 14; v6.length < 54; v6.length++)
		CU_ASSERT_EQUAL(parse_result(&v6), GW_PARSE_HOST);
}

static void under_14_bytes_is_malformed(void)
{
	struct frame frame = frame_v4();

	for (frame.length = 0; frame.length < 14; frame.length++)
		CU_ASSERT_EQUAL(parse_result(&frame), GW_DROP_MALFORMED);
}

static void an_ipv6_destination_that_spells_ipv4_is_the_hosts(void)
{
	static const uint8_t mapped[16] = {[10] = 0xff, 0xff, 203, 0, 113, 10};
	struct frame frame = frame_v6();

	memcpy(frame.bytes + 38, mapped, 16);
	CU_ASSERT_EQUAL(parse_result(&frame), GW_PARSE_HOST);
}

static void every_cut_behind_the_addresses_is_malformed(void)
{
	struct frame v4 = frame_v4(), v6 = frame_v6();

	for (v4.length = 34; v4.length < FRAME_V4; v4.length++)
		CU_ASSERT_EQUAL(parse_result(&v4), GW_DROP_MALFORMED);
	for (v6.length = 54; v6.length < FRAME_V6; v6.length++)
		CU_ASSERT_EQUAL(parse_result(&v6), GW_DROP_MALFORMED);
}

static void padding_is_no_part_of_the_packet(void)
{
	struct frame v4 = frame_v4(), v6 = frame_v6();
	struct gw_packet packet;

	v4.length += 100;
	CU_ASSERT_EQUAL(parse(&v4, &packet), GW_PARSE_OK);
	CU_ASSERT_EQUAL(packet.l3_length, 45);
	v6.length += 1;
	CU_ASSERT_EQUAL(parse(&v6, &packet), GW_PARSE_OK);
	CU_ASSERT_EQUAL(packet.l3_length, 51);
}

/* In padding there are bytes enough, yet the transport header is cut by the IP length. */
static void padding_does_not_complete_a_cut_transport_header(void)
{
	struct frame v4 = frame_v4(), v6 = frame_v6();

	frame_put16(&v4, 16, 39);
	CU_ASSERT_EQUAL(parse_result(&v4), GW_DROP_MALFORMED);
	frame_put16(&v4, 16, 40);
	CU_ASSERT_EQUAL(parse_result(&v4), GW_PARSE_OK);
	frame_put16(&v6, 18, 7);
	CU_ASSERT_EQUAL(parse_result(&v6), GW_DROP_MALFORMED);
	frame_put16(&v6, 18, 8);
	CU_ASSERT_EQUAL(parse_result(&v6), GW_PARSE_OK);
}

static void lengths_and_versions_that_contradict_are_malformed(void)
{
	struct frame frame = frame_v4();

	frame_put16(&frame, 16, 46); /* one more than there is */
	CU_ASSERT_EQUAL(parse_result(&frame), GW_DROP_MALFORMED);
	frame = frame_v4();
	frame_put16(&frame, 16, 19);
	CU_ASSERT_EQUAL(parse_result(&frame), GW_DROP_MALFORMED);
	frame = frame_v4();
	frame.bytes[14] = 0x44;
	CU_ASSERT_EQUAL(parse_result(&frame), GW_DROP_MALFORMED);
	frame.bytes[14] = 0x4f; /* 60 bytes of header in 45 */
	CU_ASSERT_EQUAL(parse_result(&frame), GW_DROP_MALFORMED);
	frame.bytes[14] = 0x65;
	CU_ASSERT_EQUAL(parse_result(&frame), GW_DROP_MALFORMED);
	frame = frame_v6();
	frame.bytes[14] = 0x45;
	CU_ASSERT_EQUAL(parse_result(&frame), GW_DROP_MALFORMED);
	frame = frame_v6();
	frame_put16(&frame, 18, 12);
	CU_ASSERT_EQUAL(parse_result(&frame), GW_DROP_MALFORMED);
}

static void a_tcp_offset_below_five_or_behind_the_end_is_malformed(void)
{
	struct frame frame = frame_v4();

	frame.bytes[46] = 0x40;
	CU_ASSERT_EQUAL(parse_result(&frame), GW_DROP_MALFORMED);
	frame.bytes[46] = 0x60; /* 24 of 25 bytes */
	CU_ASSERT_EQUAL(parse_result(&frame), GW_PARSE_OK);
	frame.bytes[46] = 0x70;
	CU_ASSERT_EQUAL(parse_result(&frame), GW_DROP_MALFORMED);
}

static void ports_are_read_behind_ipv4_options(void)
{
	static const uint8_t options[40] = {7, 39, 4};
	struct frame frame = frame_v4();
	struct gw_packet packet;

	frame_insert(&frame, 34, options, 40);
	frame.bytes[14] = 0x4f;
	frame_put16(&frame, 16, 85);
	CU_ASSERT_EQUAL(parse(&frame, &packet), GW_PARSE_OK);
	CU_ASSERT_EQUAL(packet.l4_offset, 74);
	CU_ASSERT_EQUAL(packet.key.source_port, GW_HTONS(40000));
	CU_ASSERT_EQUAL(packet.l3_length, 85);
}

static void a_wrong_ipv4_checksum_is_the_backends_to_judge(void)
{
	struct frame frame = frame_v4();

	frame.bytes[24] ^= 0xff;
	CU_ASSERT_EQUAL(parse_result(&frame), GW_PARSE_OK);
}

static void sctp_has_ports_and_other_protocols_have_none(void)
{
	struct frame frame = frame_v4();
	struct gw_packet packet;

	frame.bytes[23] = GW_PROTO_SCTP;
	CU_ASSERT_EQUAL(parse(&frame, &packet), GW_PARSE_OK);
	CU_ASSERT_EQUAL(packet.key.destination_port, GW_HTONS(80));
	CU_ASSERT_EQUAL(packet.key.protocol, GW_PROTO_SCTP);
	frame_put16(&frame, 16, 31); /* 11 of SCTP's 12 */
	CU_ASSERT_EQUAL(parse_result(&frame), GW_DROP_MALFORMED);
	frame = frame_v4();
	frame.bytes[23] = 47;
	CU_ASSERT_EQUAL(parse(&frame, &packet), GW_PARSE_OK);
	CU_ASSERT_EQUAL(packet.key.source_port, 0);
	CU_ASSERT_EQUAL(packet.key.destination_port, 0);
	CU_ASSERT_EQUAL(packet.key.protocol, 47);
	CU_ASSERT_EQUAL(packet.tcp_flags, 0);
	frame_put16(&frame, 16, 20); /* nothing behind the IP header */
	CU_ASSERT_EQUAL(parse_result(&frame), GW_PARSE_OK);
}

static void extension_headers_are_walked_with_their_own_units(void)
{
	static const uint8_t hop[8] = {0, 0}, routing[24] = {0, 2}, destination[16] = {0, 1};
	static const uint8_t ah[24] = {0, 4}; /* RFC 4302: (4 + 2) x 4 bytes */
	struct frame frame = frame_v6();
	struct gw_packet packet;

	frame_insert_exthdr(&frame, GW_EXT_DESTINATION, destination, 16);
	frame_insert_exthdr(&frame, GW_EXT_AH, ah, 24);
	frame_insert_exthdr(&frame, GW_EXT_ROUTING, routing, 24);
	frame_insert_exthdr(&frame, GW_EXT_HOPBYHOP, hop, 8);
	CU_ASSERT_EQUAL(parse(&frame, &packet), GW_PARSE_OK);
	CU_ASSERT_EQUAL(packet.l4_offset, 54 + 72);
	CU_ASSERT_EQUAL(packet.key.source_port, GW_HTONS(5353));
	CU_ASSERT_EQUAL(packet.key.protocol, GW_PROTO_UDP);
	for (frame.length--; frame.length >= 54; frame.length--)
		CU_ASSERT_EQUAL(parse_result(&frame), GW_DROP_MALFORMED);
}

static void eight_extension_headers_pass_and_nine_do_not(void)
{
	static const uint8_t destination[8];
	struct frame frame = frame_v6();
	struct gw_packet packet;

	for (int i = 0; i < 8; i++)
		frame_insert_exthdr(&frame, GW_EXT_DESTINATION, destination, 8);
	CU_ASSERT_EQUAL(parse(&frame, &packet), GW_PARSE_OK);
	CU_ASSERT_EQUAL(packet.l4_offset, 54 + 64);
	frame_insert_exthdr(&frame, GW_EXT_DESTINATION, destination, 8);
	CU_ASSERT_EQUAL(parse_result(&frame), GW_DROP_EXTHDR);
}

/* The length comes from the packet; the walk must stop at the packet's end, not at the frame's. */
static void an_extension_header_longer_than_the_packet_is_malformed(void)
{
	static const uint8_t destination[8] = {0, 255};
	struct frame frame = frame_v6();

	frame_insert_exthdr(&frame, GW_EXT_DESTINATION, destination, 8);
	CU_ASSERT_EQUAL(parse_result(&frame), GW_DROP_MALFORMED);
	frame.bytes[55] = 3; /* 32 bytes, and 19 are there: 13 more would be padding */
	frame.length += 64;
	CU_ASSERT_EQUAL(parse_result(&frame), GW_DROP_MALFORMED);
}

static void ipv4_fragments_are_told_by_offset_and_more_not_by_df(void)
{
	struct frame frame = frame_v4();
	struct gw_packet packet;

	frame_put16(&frame, 20, 0x4000);
	CU_ASSERT_EQUAL(parse(&frame, &packet), GW_PARSE_OK);
	CU_ASSERT_TRUE(packet.dont_fragment);
	CU_ASSERT_FALSE(packet.fragment);
	frame_put16(&frame, 20, 0x2000);
	CU_ASSERT_EQUAL(parse(&frame, &packet), GW_PARSE_OK);
	CU_ASSERT_EQUAL(packet.fragment, GW_FRAGMENT_FIRST);
	CU_ASSERT_EQUAL(packet.fragment_id, packet.ip_id);
	CU_ASSERT_EQUAL(packet.key.destination_port, GW_HTONS(80));
	frame_put16(&frame, 20, 0x0001);
	CU_ASSERT_EQUAL(parse(&frame, &packet), GW_PARSE_LATE);
	CU_ASSERT_EQUAL(packet.fragment, GW_FRAGMENT_LATER);
	CU_ASSERT_EQUAL(packet.key.destination_port, 0);
	frame_put16(&frame, 20, 0x8000); /* RFC 3514 jokes apart, the top bit means nothing */
	CU_ASSERT_EQUAL(parse_result(&frame), GW_PARSE_OK);
}

static void an_ipv6_atomic_fragment_is_whole_and_others_are_not(void)
{
	static const uint8_t atomic[8] = {0, 0, 0x00, 0x06, 1, 2, 3, 4}; /* reserved bits set */
	static const uint8_t first[8] = {0, 0, 0x00, 0x01, 1, 2, 3, 4},
			     later[8] = {0, 0, 0x00, 0x08};
	struct frame frame = frame_v6();
	struct gw_packet packet;

	frame_insert_exthdr(&frame, GW_EXT_FRAGMENT, atomic, 8);
	CU_ASSERT_EQUAL(parse(&frame, &packet), GW_PARSE_OK);
	CU_ASSERT_FALSE(packet.fragment);
	CU_ASSERT_EQUAL(packet.key.destination_port, GW_HTONS(443));
	frame = frame_v6();
	frame_insert_exthdr(&frame, GW_EXT_FRAGMENT, first, 8);
	CU_ASSERT_EQUAL(parse(&frame, &packet), GW_PARSE_OK);
	CU_ASSERT_EQUAL(packet.fragment, GW_FRAGMENT_FIRST);
	CU_ASSERT_EQUAL(packet.fragment_id, 0x01020304);
	frame_insert_exthdr(&frame, GW_EXT_FRAGMENT, atomic, 8);
	CU_ASSERT_EQUAL(parse(&frame, &packet), GW_PARSE_OK);
	CU_ASSERT_EQUAL(packet.fragment, GW_FRAGMENT_FIRST);
	frame = frame_v6();
	frame_insert_exthdr(&frame, GW_EXT_FRAGMENT, later, 8);
	frame.bytes[54] = GW_EXT_DESTINATION; /* of the first one's data: not to be walked here */
	frame.bytes[63] = 255;
	CU_ASSERT_EQUAL(parse_result(&frame), GW_PARSE_LATE);
}

static void icmp_is_told_by_its_family(void)
{
	struct frame frame = frame_v4();

	frame.bytes[23] = GW_PROTO_ICMP;
	CU_ASSERT_EQUAL(parse_result(&frame), GW_PARSE_ICMP);
	frame_put16(&frame, 20, 0x2000);
	CU_ASSERT_EQUAL(parse_result(&frame), GW_DROP_ICMP_OTHER);
	frame = frame_v4();
	frame.bytes[23] = GW_PROTO_ICMPV6;
	CU_ASSERT_EQUAL(parse_result(&frame), GW_PARSE_OK);
	frame = frame_v6();
	frame.bytes[20] = GW_PROTO_ICMPV6;
	CU_ASSERT_EQUAL(parse_result(&frame), GW_PARSE_ICMP);
}

static void impossible_ipv4_sources_are_martians(void)
{
	static const uint8_t martians[][4] = {{203, 0, 113, 10}, {224, 0, 0, 1},
		{239, 255, 255, 255}, {127, 0, 0, 1}, {127, 255, 255, 254}, {0, 0, 0, 0},
		{255, 255, 255, 255}};
	static const uint8_t sane[][4] = {{126, 255, 255, 255}, {128, 0, 0, 0},
		{223, 255, 255, 255}, {203, 0, 113, 11}, {10, 0, 0, 1}};
	struct frame frame = frame_v4();

	for (size_t i = 0; i < sizeof(martians) / 4; i++) {
		memcpy(frame.bytes + 26, martians[i], 4);
		CU_ASSERT_EQUAL(parse_result(&frame), GW_DROP_MARTIAN);
	}
	for (size_t i = 0; i < sizeof(sane) / 4; i++) {
		memcpy(frame.bytes + 26, sane[i], 4);
		CU_ASSERT_EQUAL(parse_result(&frame), GW_PARSE_OK);
	}
}

static void impossible_ipv6_sources_are_martians(void)
{
	static const uint8_t martians[][16] = {{0x20, 0x01, 0x0d, 0xb8, 0x01, 0x13, [15] = 0x10},
		{0xff, 0x02, [15] = 1}, {[15] = 1}, {[15] = 0},
		{[10] = 0xff, 0xff, 198, 51, 100, 7}};
	static const uint8_t sane[][16] = {{0xfe, 0x80, [15] = 9}, {[15] = 2}, {[11] = 1, [15] = 1},
		{0x20, 0x01, 0x0d, 0xb8, 0x01, 0x13, [15] = 0x11}};
	struct frame frame = frame_v6();

	for (size_t i = 0; i < sizeof(martians) / 16; i++) {
		memcpy(frame.bytes + 22, martians[i], 16);
		CU_ASSERT_EQUAL(parse_result(&frame), GW_DROP_MARTIAN);
	}
	for (size_t i = 0; i < sizeof(sane) / 16; i++) {
		memcpy(frame.bytes + 22, sane[i], 16);
		CU_ASSERT_EQUAL(parse_result(&frame), GW_PARSE_OK);
	}
}

static void a_group_frame_for_a_service_is_a_martian(void)
{
	struct frame frame = frame_v4();
	struct gw_packet packet;

	frame.bytes[0] = 0x01;
	CU_ASSERT_EQUAL(parse(&frame, &packet), GW_DROP_MARTIAN);
	CU_ASSERT_TRUE(packet.link_multicast);
	memset(frame.bytes, 0xff, 6);
	CU_ASSERT_EQUAL(parse_result(&frame), GW_DROP_MARTIAN);
}

static const struct gw_test tests[] = {
	GW_TEST(an_ipv4_packet_is_read_field_by_field),
	GW_TEST(an_ipv6_packet_is_read_field_by_field),
	GW_TEST(vlan_tags_change_the_offset_and_nothing_else),
	GW_TEST(what_is_not_ip_is_the_hosts),
	GW_TEST(a_frame_cut_before_its_addresses_is_the_hosts),
	GW_TEST(under_14_bytes_is_malformed),
	GW_TEST(an_ipv6_destination_that_spells_ipv4_is_the_hosts),
	GW_TEST(every_cut_behind_the_addresses_is_malformed),
	GW_TEST(padding_is_no_part_of_the_packet),
	GW_TEST(padding_does_not_complete_a_cut_transport_header),
	GW_TEST(lengths_and_versions_that_contradict_are_malformed),
	GW_TEST(a_tcp_offset_below_five_or_behind_the_end_is_malformed),
	GW_TEST(ports_are_read_behind_ipv4_options),
	GW_TEST(a_wrong_ipv4_checksum_is_the_backends_to_judge),
	GW_TEST(sctp_has_ports_and_other_protocols_have_none),
	GW_TEST(extension_headers_are_walked_with_their_own_units),
	GW_TEST(eight_extension_headers_pass_and_nine_do_not),
	GW_TEST(an_extension_header_longer_than_the_packet_is_malformed),
	GW_TEST(ipv4_fragments_are_told_by_offset_and_more_not_by_df),
	GW_TEST(an_ipv6_atomic_fragment_is_whole_and_others_are_not),
	GW_TEST(icmp_is_told_by_its_family),
	GW_TEST(impossible_ipv4_sources_are_martians),
	GW_TEST(impossible_ipv6_sources_are_martians),
	GW_TEST(a_group_frame_for_a_service_is_a_martian),
};

GW_SUITE("parse", tests)
