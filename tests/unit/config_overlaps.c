/* SPDX-License-Identifier: BSD-2-Clause */
/* Services that would answer for the same packets: equal rank is an error, unequal rank is not. */
#include "config_expect.h"

#define TWO(first, second)                                                                         \
	CONFIG_HEAD CONFIG_POOL "services:\n"                                                      \
				"  - {name: a, pool: web, " first "}\n"                            \
				"  - {name: b, pool: web, " second "}\n"
#define VIP   ", addresses: [203.0.113.10]"
#define CLASH "claimed with equal rank by service a (line 6)"

static void equal_ports_of_one_address_clash(void)
{
	EXPECT_ERRORS(TWO("protocol: tcp, ports: [80, 443]" VIP,
			      "protocol: tcp, ports: [8080, 443], addresses: [@203.0.113.10]"),
		{"services[b].addresses", CLASH});
	EXPECT_ERRORS(TWO("protocol: udp, ports: [53], addresses: [\"2001:db8::1\"]",
			      "protocol: udp, ports: [53-53], addresses: [@\"2001:DB8:0::1\"]"),
		{"services[b].addresses", CLASH});
}

static void overlapping_ranges_of_equal_width_clash(void)
{
	EXPECT_ERRORS(TWO("protocol: tcp, ports: [8000-8099]" VIP,
			      "protocol: tcp, ports: [8099-8198], addresses: [@203.0.113.10]"),
		{"services[b].addresses", CLASH});
	EXPECT_ERRORS(TWO("protocol: tcp, ports: [8099-8198]" VIP,
			      "protocol: tcp, ports: [8000-8099], addresses: [@203.0.113.10]"),
		{"services[b].addresses", CLASH});
	expect_loads(TWO(
		"protocol: tcp, ports: [8000-8099]" VIP, "protocol: tcp, ports: [8100-8199]" VIP));
}

static void any_ports_of_one_protocol_clash(void)
{
	EXPECT_ERRORS(TWO("protocol: tcp, ports: any" VIP,
			      "protocol: tcp, ports: any, addresses: [@203.0.113.10]"),
		{"services[b].addresses", "tcp ports any is claimed with equal rank by service a"});
	EXPECT_ERRORS(TWO("protocol: any" VIP, "protocol: any, addresses: [@203.0.113.10]"),
		{"services[b].addresses", CLASH});
}

static void equal_prefixes_clash(void)
{
	EXPECT_ERRORS(TWO("protocol: tcp, ports: [80], addresses: [203.0.113.0/24]",
			      "protocol: tcp, ports: [80], addresses: [@203.0.113.0/24]"),
		{"services[b].addresses", "203.0.113.0/24"});
}

static void unequal_rank_is_no_overlap(void)
{
	/* the exact port, the narrower range, then any */
	expect_loads(TWO("protocol: tcp, ports: [8000-8099, 8000-9000, any]" VIP,
		"protocol: tcp, ports: [8050]" VIP));
	/* the exact protocol before any */
	expect_loads(TWO("protocol: any" VIP, "protocol: tcp, ports: any" VIP));
	expect_loads(TWO("protocol: udp, ports: [53]" VIP, "protocol: tcp, ports: [53]" VIP));
	/* the longer prefix */
	expect_loads(TWO("protocol: tcp, ports: [80], addresses: [203.0.113.0/24]",
		"protocol: tcp, ports: [80], addresses: [203.0.113.0/25]"));
	expect_loads(TWO("protocol: tcp, ports: [80], addresses: [203.0.113.0/32]",
		"protocol: tcp, ports: [80], addresses: [203.0.113.0/31]"));
}

static void one_service_does_not_repeat_itself(void)
{
	EXPECT_ERRORS(
		TWO("protocol: tcp, ports: [80, @80]" VIP,
			"protocol: tcp, ports: [81], addresses: [203.0.113.10, @203.0.113.10/32]"),
		{"services[a].ports", "80 overlaps 80"},
		{"services[b].addresses", "203.0.113.10 is given twice"});
	EXPECT_ERRORS(TWO("protocol: tcp, ports: [80-90, @85-95], addresses: [203.0.113.10,"
			  " 203.0.113.11, \"2001:db8:113::10\"]",
			      "protocol: udp, ports: [1, 2, 3], addresses: [203.0.113.10, "
			      "@203.0.113.10]"),
		{"services[a].ports", "85-95 overlaps 80-90"},
		{"services[b].addresses", "203.0.113.10 is given twice"});
}

static void each_of_several_clashes_is_reported(void)
{
	EXPECT_ERRORS(CONFIG_HEAD CONFIG_POOL
		"services:\n"
		"  - {name: a, pool: web, protocol: tcp, ports: [80], addresses: [203.0.113.10]}\n"
		"  - {name: b, pool: web, protocol: tcp, ports: [80], addresses: [@203.0.113.10]}\n"
		"  - {name: c, pool: web, protocol: tcp, ports: [80], addresses: "
		"[@203.0.113.10]}\n",
		{"services[b].addresses", "equal rank"}, {"services[c].addresses", "equal rank"});
}

static void no_service_is_said_of_an_address_once(void)
{
	struct gw_config *config;

	EXPECT_ERRORS(TWO("protocol: tcp, ports: [80], no_service: host" VIP,
			      "protocol: tcp, ports: [81], no_service: @drop" VIP),
		{"services[b].no_service", "differs from that of service a (line 6)"});
	config = expect_config(TWO("protocol: tcp, ports: [80]" VIP,
		"protocol: tcp, ports: [81], no_service: host" VIP));
	CU_ASSERT_EQUAL(config->services[0].no_service, GW_CONFIG_NO_SERVICE_HOST);
	CU_ASSERT_EQUAL(config->services[1].no_service, GW_CONFIG_NO_SERVICE_HOST);
	gw_config_free(config);
}

#define KEEP(place, first, second)                                                                 \
	CONFIG_HEAD                                                                                \
	"pools: [{name: web, on_down: " place                                                      \
	"keep, backends: [{name: b1, address: 10.82.0.101}]}]\n"                                   \
	"services:\n"                                                                              \
	"  - {name: a, pool: web, protocol: tcp, ports: [80], addresses: [203.0.113.10]" first     \
	"}\n"                                                                                      \
	"  - {name: b, pool: web, protocol: udp, ports: [80], addresses: [203.0.113.10]" second    \
	"}\n"
#define UNTRACKED ", track_flows: false"

static void only_tracked_flows_can_be_kept(void)
{
	struct gw_config *config;

	EXPECT_ERRORS(KEEP("@", UNTRACKED, UNTRACKED),
		{"pools[web].on_down", "keep has no meaning: service a (line 6)"});
	expect_loads(KEEP("", "", UNTRACKED));
	config = expect_config(KEEP("", UNTRACKED, ", track_flows: true"));
	CU_ASSERT_FALSE(config->services[0].track_flows);
	CU_ASSERT_TRUE(config->services[1].track_flows);
	gw_config_free(config);
	config = expect_config(KEEP("", "", ""));
	CU_ASSERT_TRUE(config->services[0].track_flows);
	gw_config_free(config);
}

static const struct gw_test tests[] = {
	GW_TEST(equal_ports_of_one_address_clash),
	GW_TEST(overlapping_ranges_of_equal_width_clash),
	GW_TEST(any_ports_of_one_protocol_clash),
	GW_TEST(equal_prefixes_clash),
	GW_TEST(unequal_rank_is_no_overlap),
	GW_TEST(one_service_does_not_repeat_itself),
	GW_TEST(each_of_several_clashes_is_reported),
	GW_TEST(no_service_is_said_of_an_address_once),
	GW_TEST(only_tracked_flows_can_be_kept),
};

GW_SUITE("config_overlaps", tests)
