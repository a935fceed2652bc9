/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/address.h"

#include "suite.h"

#include <errno.h>
#include <string.h>

static void check_round_trip(const char *text, const char *expected)
{
	uint8_t address[16];
	char out[GW_ADDRESS_TEXT];

	CU_ASSERT_EQUAL_FATAL(gw_address_parse(text, address), 0);
	CU_ASSERT_STRING_EQUAL(gw_address_format(address, out), expected);
}

static void ipv4_is_kept_as_a_mapped_address(void)
{
	static const uint8_t expected[16] = {[10] = 0xff, [11] = 0xff, 203, 0, 113, 10};
	uint8_t address[16];

	CU_ASSERT_EQUAL_FATAL(gw_address_parse("203.0.113.10", address), 0);
	CU_ASSERT_EQUAL(memcmp(address, expected, 16), 0);
	check_round_trip("203.0.113.10", "203.0.113.10");
	check_round_trip("0.0.0.0", "0.0.0.0");
	check_round_trip("255.255.255.255", "255.255.255.255");
}

/* The examples of RFC 5952, section 4 and 2. */
static void ipv6_text_follows_rfc_5952(void)
{
	check_round_trip("2001:0db8::0001", "2001:db8::1");
	check_round_trip("2001:db8:0:0:0:0:2:1", "2001:db8::2:1");
	check_round_trip("2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1");
	check_round_trip("2001:0:0:1:0:0:0:1", "2001:0:0:1::1");
	check_round_trip("2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1");
	check_round_trip("2001:DB8::AAAA", "2001:db8::aaaa");
	check_round_trip("::", "::");
	check_round_trip("::1", "::1");
	check_round_trip("1::", "1::");
	check_round_trip("::1:2", "::1:2");
	check_round_trip("fd82::101", "fd82::101");
	check_round_trip("1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:8");
	check_round_trip("0:2:3:4:5:6:7:0", "0:2:3:4:5:6:7:0");
	check_round_trip("0:0:3:4:5:6:7:8", "::3:4:5:6:7:8");
	check_round_trip("1:2:3:4:5:6:0:0", "1:2:3:4:5:6::");
	check_round_trip("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
		"ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff");
}

static void bad_address_text_is_refused_and_output_untouched(void)
{
	static const char *const bad[] = {"", " ", "1.2.3", "1.2.3.4.5", "1.2.3.256", "01.2.3.4",
		"1.2.3.4 ", " 1.2.3.4", "1.2.3.4/32", "::ffff:1.2.3.4", "::ffff:102:304",
		":::", "1::2::3", "[::1]", "fe80::1%eth0", "12345::", "1:2:3:4:5:6:7", "host",
		"-1.2.3.4"};
	uint8_t address[16];

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		memset(address, 0xa5, 16);
		CU_ASSERT_EQUAL(gw_address_parse(bad[i], address), -EINVAL);
		for (int j = 0; j < 16; j++)
			CU_ASSERT_EQUAL(address[j], 0xa5);
	}
}

static void prefix_length_counts_in_the_128_bit_form(void)
{
	struct gw_prefix prefix;
	char text[GW_PREFIX_TEXT];

	CU_ASSERT_EQUAL(gw_prefix_parse("203.0.113.0/24", &prefix), 0);
	CU_ASSERT_EQUAL(prefix.length, 120);
	CU_ASSERT_STRING_EQUAL(gw_prefix_format(&prefix, text), "203.0.113.0/24");
	CU_ASSERT_EQUAL(gw_prefix_parse("0.0.0.0/0", &prefix), 0);
	CU_ASSERT_EQUAL(prefix.length, 96);
	CU_ASSERT_STRING_EQUAL(gw_prefix_format(&prefix, text), "0.0.0.0/0");
	CU_ASSERT_EQUAL(gw_prefix_parse("::/0", &prefix), 0);
	CU_ASSERT_EQUAL(prefix.length, 0);
	CU_ASSERT_STRING_EQUAL(gw_prefix_format(&prefix, text), "::/0");
	CU_ASSERT_EQUAL(gw_prefix_parse("2001:db8:113::/61", &prefix), 0);
	CU_ASSERT_EQUAL(prefix.length, 61);
	CU_ASSERT_STRING_EQUAL(gw_prefix_format(&prefix, text), "2001:db8:113::/61");
	CU_ASSERT_EQUAL(gw_prefix_parse("192.0.2.7", &prefix), 0);
	CU_ASSERT_EQUAL(prefix.length, 128);
	CU_ASSERT_STRING_EQUAL(gw_prefix_format(&prefix, text), "192.0.2.7");
	CU_ASSERT_EQUAL(gw_prefix_parse("192.0.2.7/32", &prefix), 0);
	CU_ASSERT_EQUAL(prefix.length, 128);
}

static void bad_prefix_says_what_is_wrong(void)
{
	static const struct {
		const char *text;
		int error;
	} bad[] = {{"x/24", -EINVAL}, {"/24", -EINVAL}, {"10.0.0.0/", -ERANGE},
		{"10.0.0.0/33", -ERANGE}, {"10.0.0.0/08", -ERANGE}, {"10.0.0.0/-1", -ERANGE},
		{"10.0.0.0/+8", -ERANGE}, {"10.0.0.0/8/8", -ERANGE},
		{"10.0.0.0/4294967304", -ERANGE}, {"::/129", -ERANGE}, {"10.0.0.1/8", -EDOM},
		{"10.0.0.1/31", -EDOM}, {"2001:db8::1/64", -EDOM}, {"1.1.1.1/0", -EDOM}};
	struct gw_prefix prefix = {.length = 77};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CU_ASSERT_EQUAL(gw_prefix_parse(bad[i].text, &prefix), bad[i].error);
	CU_ASSERT_EQUAL(prefix.length, 77);
}

static void prefix_contains_its_addresses_only(void)
{
	static const struct {
		const char *prefix, *address;
		bool inside;
	} cases[] = {{"203.0.113.0/25", "203.0.113.127", true},
		{"203.0.113.0/25", "203.0.113.128", false}, {"0.0.0.0/0", "255.255.255.255", true},
		{"0.0.0.0/0", "2001:db8::1", false}, {"::/0", "2001:db8::1", true},
		{"2001:db8:8000::/33", "2001:db8:ffff::1", true},
		{"2001:db8:8000::/33", "2001:db8:7fff::1", false}, {"192.0.2.1", "192.0.2.1", true},
		{"192.0.2.1", "192.0.2.0", false}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct gw_prefix prefix;
		uint8_t address[16];

		CU_ASSERT_EQUAL_FATAL(gw_prefix_parse(cases[i].prefix, &prefix), 0);
		CU_ASSERT_EQUAL_FATAL(gw_address_parse(cases[i].address, address), 0);
		CU_ASSERT_EQUAL(gw_prefix_contains(&prefix, address), cases[i].inside);
	}
}

static const struct gw_test tests[] = {
	GW_TEST(ipv4_is_kept_as_a_mapped_address),
	GW_TEST(ipv6_text_follows_rfc_5952),
	GW_TEST(bad_address_text_is_refused_and_output_untouched),
	GW_TEST(prefix_length_counts_in_the_128_bit_form),
	GW_TEST(bad_prefix_says_what_is_wrong),
	GW_TEST(prefix_contains_its_addresses_only),
};

GW_SUITE("address", tests)
