/* SPDX-License-Identifier: BSD-2-Clause */
/* The pure functions about ICMP: checksums, the limit, path MTUs. Whole packets are golden cases.
 */
#include "abi/icmp.h"

#include "abi/announce.h"
#include "abi/limit.h"
#include "abi/path_mtu.h"
#include "suite.h"

#include <string.h>

#define MS 1000000ull

/* RFC 1071 over whole words, from scratch. */
static uint16_t checksum(const uint8_t *bytes, size_t length)
{
	uint32_t sum = 0;

	for (size_t i = 0; i < length; i += 2)
		sum += (uint32_t)(bytes[i] << 8 | bytes[i + 1]);
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)~sum;
}

/* An echo request of 10 bytes whose data word makes every checksum there is, answered. */
static void an_answers_checksum_is_that_of_its_bytes_for_all_checksums(void)
{
	for (uint32_t word = 0; word <= 0xffff; word++) {
		uint8_t frame[64] = {[12] = 8, [14] = 0x45, [22] = 9, [23] = 1, [34] = 8};
		struct gw_packet packet = {
			.l3_offset = 14, .l4_offset = 34, .l3_length = 30, .family = GW_IPV4};
		uint8_t *icmp = frame + 34;
		uint16_t said;
		bool zeroes;

		icmp[8] = (uint8_t)(word >> 8);
		icmp[9] = (uint8_t)word;
		gw_wire_store16(icmp + 2, checksum(icmp, 10));
		zeroes = gw_icmp_echo_ambiguous(icmp, &packet) && !word;
		CU_ASSERT_FATAL(gw_icmp_echo_answer(frame, frame + 44, &packet, zeroes));
		said = gw_wire_load16(icmp + 2);
		gw_wire_store16(icmp + 2, 0);
		CU_ASSERT_EQUAL_FATAL(said, checksum(icmp, 10));
		CU_ASSERT_EQUAL_FATAL(checksum(frame + 14, 20), 0);
	}
}

static void a_replaced_word_gives_the_checksum_of_the_new_bytes(void)
{
	/* The example of RFC 1624, section 4: 0xDD2F, m 0x5555, m' 0x3285 -> 0x0000. */
	CU_ASSERT_EQUAL(gw_checksum_replace(0xdd2f, 0x5555, 0x3285), 0x0000);
	CU_ASSERT_EQUAL(gw_checksum_replace(0x0000, 0x3285, 0x5555), 0xdd2f);
}

static void a_hundred_at_once_then_a_thousand_a_second(void)
{
	uint64_t word = 0, now = 5000000 * MS;
	int taken = 0;

	for (int i = 0; i < 150; i++)
		taken += gw_limit_take(&word, now);
	CU_ASSERT_EQUAL(taken, 100);
	CU_ASSERT_FALSE(gw_limit_take(&word, now + MS - 1));
	CU_ASSERT(gw_limit_take(&word, now + MS));
	CU_ASSERT_FALSE(gw_limit_take(&word, now + MS));
	for (taken = 0, now += 1000 * MS; taken < 150 && gw_limit_take(&word, now); taken++)
		;
	CU_ASSERT_EQUAL(taken, 100);
	/* A steady 1000 a second all pass, 2000 a second half. */
	word = 0;
	for (int i = taken = 0; i < 5000; i++)
		taken += gw_limit_take(&word, now + (uint64_t)i * MS);
	CU_ASSERT_EQUAL(taken, 5000);
	word = 0;
	for (int i = taken = 0; i < 4000; i++)
		taken += gw_limit_take(&word, now + (uint64_t)i * MS / 2);
	CU_ASSERT(taken >= 2098 && taken <= 2101);
}

static void a_clock_that_went_back_does_not_shut_the_limit(void)
{
	uint64_t word = 9000000 * MS;

	CU_ASSERT(gw_limit_take(&word, 1000 * MS));
	CU_ASSERT_EQUAL(word, 1001 * MS);
}

static void a_path_mtu_is_plausible_and_only_falls(void)
{
	uint64_t word = gw_path_mtu_learn(0, 100, 1400, 1500, GW_IPV4);

	CU_ASSERT_EQUAL(gw_path_mtu_of(word, 100), 1400);
	CU_ASSERT_EQUAL(gw_path_mtu_of(word, 699), 1400);
	CU_ASSERT_EQUAL(gw_path_mtu_of(word, 700), 0);
	CU_ASSERT_EQUAL(gw_path_mtu_learn(word, 200, 1401, 1500, GW_IPV4), 0);
	CU_ASSERT_EQUAL(
		gw_path_mtu_of(gw_path_mtu_learn(word, 200, 1400, 1500, GW_IPV4), 799), 1400);
	CU_ASSERT_EQUAL(
		gw_path_mtu_of(gw_path_mtu_learn(word, 200, 1399, 1500, GW_IPV4), 799), 1399);
	CU_ASSERT_EQUAL(
		gw_path_mtu_of(gw_path_mtu_learn(word, 700, 1450, 1500, GW_IPV4), 701), 1450);
	CU_ASSERT_EQUAL(gw_path_mtu_learn(0, 1, 1500, 1500, GW_IPV4), 0);
	CU_ASSERT_EQUAL(gw_path_mtu_learn(0, 1, 575, 1500, GW_IPV4), 0);
	CU_ASSERT_NOT_EQUAL(gw_path_mtu_learn(0, 1, 576, 1500, GW_IPV4), 0);
	CU_ASSERT_EQUAL(gw_path_mtu_learn(0, 1, 1279, 1500, GW_IPV6), 0);
	CU_ASSERT_NOT_EQUAL(gw_path_mtu_learn(0, 1, 1280, 1500, GW_IPV6), 0);
	/* The clock's word wraps once in 136 years. */
	word = gw_path_mtu_learn(0, 0xffffff00u, 1400, 1500, GW_IPV4);
	CU_ASSERT_EQUAL(gw_path_mtu_of(word, 100), 1400);
	CU_ASSERT_EQUAL(gw_path_mtu_of(word, 500), 0);
}

static void a_tunnel_source_has_its_free_bits(void)
{
	struct gw_tunnel_source source = {.family = GW_IPV4, .bits = 8}, none = {};
	struct gw_address inside, outside;

	gw_address_set_ipv4(&source.address, (const uint8_t[]){10, 82, 3, 0});
	gw_address_set_ipv4(&inside, (const uint8_t[]){10, 82, 3, 255});
	gw_address_set_ipv4(&outside, (const uint8_t[]){10, 82, 4, 0});
	CU_ASSERT(gw_tunnel_source_has(&source, &inside));
	CU_ASSERT_FALSE(gw_tunnel_source_has(&source, &outside));
	source.bits = 0;
	CU_ASSERT_FALSE(gw_tunnel_source_has(&source, &inside));
	CU_ASSERT(gw_tunnel_source_has(&source, &source.address));
	source.bits = 32;
	CU_ASSERT(gw_tunnel_source_has(&source, &outside));
	CU_ASSERT_FALSE(gw_tunnel_source_has(&none, &(struct gw_address){}));
}

static void tunnel_sources_are_noted_once(void)
{
	struct gw_tunnel_source sources[GW_PATH_MTU_SOURCES] = {};
	struct gw_backend backend = {.state = GW_BACKEND_ACTIVE, .family = GW_IPV4};

	for (int i = 0; i < 40; i++) {
		backend.outer_source.bytes[15] = (uint8_t)(i % 20);
		gw_tunnel_source_add(sources, &backend);
	}
	for (int i = 0; i < GW_PATH_MTU_SOURCES; i++)
		CU_ASSERT_EQUAL(sources[i].address.bytes[15], i);
	memset(sources, 0, sizeof(sources));
	backend.encap = GW_ENCAP_L2;
	gw_tunnel_source_add(sources, &backend);
	CU_ASSERT_EQUAL(sources[0].family, 0);
}

static const struct gw_test tests[] = {
	GW_TEST(an_answers_checksum_is_that_of_its_bytes_for_all_checksums),
	GW_TEST(a_replaced_word_gives_the_checksum_of_the_new_bytes),
	GW_TEST(a_hundred_at_once_then_a_thousand_a_second),
	GW_TEST(a_clock_that_went_back_does_not_shut_the_limit),
	GW_TEST(a_path_mtu_is_plausible_and_only_falls),
	GW_TEST(a_tunnel_source_has_its_free_bits),
	GW_TEST(tunnel_sources_are_noted_once),
};

GW_SUITE("icmp", tests)
