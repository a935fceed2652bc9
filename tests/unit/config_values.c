/* SPDX-License-Identifier: BSD-2-Clause */
/* Single values: each kind of mistake, at its exact place. */
#include "config_expect.h"

#define POOL(keys) CONFIG_HEAD "pools:\n  - {name: web, " keys "}\n"
#define BACKEND(keys)                                                                              \
	CONFIG_HEAD "pools:\n  - name: web\n    backends:\n      - {name: b1, " keys "}\n"
#define SERVICE(keys)                                                                              \
	CONFIG_HEAD CONFIG_POOL "services:\n  - {name: web, pool: web, protocol: tcp, " keys "}\n"
#define WEIGHT "pools[web].backends[b1].weight"

static void weights_are_whole_numbers_of_32_bits(void)
{
	expect_loads(BACKEND("address: 10.82.0.101, weight: 0"));
	expect_loads(BACKEND("address: 10.82.0.101, weight: 4294967295"));
	EXPECT_ERRORS(BACKEND("address: 10.82.0.101, weight: @-1"),
		{WEIGHT, "\"-1\" is out of range: 0 to 4294967295"});
	/* 2^32 + 5: a weight of 5 to whoever cuts it off */
	EXPECT_ERRORS(BACKEND("address: 10.82.0.101, weight: @4294967301"),
		{WEIGHT, "\"4294967301\" is out of range"});
	/* 2^64 + 1 */
	EXPECT_ERRORS(BACKEND("address: 10.82.0.101, weight: @18446744073709551617"),
		{WEIGHT, "out of range"});
	EXPECT_ERRORS(
		BACKEND("address: 10.82.0.101, weight: @1.5"), {WEIGHT, "not a whole number"});
	EXPECT_ERRORS(
		BACKEND("address: 10.82.0.101, weight: @010"), {WEIGHT, "not a whole number"});
	EXPECT_ERRORS(
		BACKEND("address: 10.82.0.101, weight: @0x10"), {WEIGHT, "not a whole number"});
	EXPECT_ERRORS(BACKEND("address: 10.82.0.101, weight: @heavy"),
		{WEIGHT, "\"heavy\" is not a whole number"});
	EXPECT_ERRORS(BACKEND("address: 10.82.0.101, weight: @[1]"), {WEIGHT, "not a list"});
	EXPECT_ERRORS(BACKEND("address: 10.82.0.101, weight: @{a: 1}"), {WEIGHT, "not a mapping"});
	EXPECT_ERRORS(BACKEND("address: 10.82.0.101, weight: @~"), {WEIGHT, "has no value"});
}

static void table_sizes_are_primes_in_range(void)
{
	expect_loads(POOL("table_size: 5000011"));
	expect_loads(POOL("table_size: 2"));
	EXPECT_ERRORS(POOL("table_size: @65536"),
		{"pools[web].table_size",
			"\"65536\" is not a prime; the nearest are 65521 and 65537"});
	EXPECT_ERRORS(
		POOL("table_size: @1"), {"pools[web].table_size", "out of range: 2 to 5000011"});
	EXPECT_ERRORS(POOL("table_size: @5000012"), {"pools[web].table_size", "out of range"});
	/* 2^32 + 15 is a prime, and 15 is what 32 bits keep of it */
	EXPECT_ERRORS(POOL("table_size: @4294967311"), {"pools[web].table_size", "out of range"});
}

static void durations_need_their_unit(void)
{
	expect_loads(CONFIG_HEAD
		"timeouts: {tcp_new: 1s, tcp_established: 1h, udp: 2000ms, fragment: 250ms}\n");
	EXPECT_ERRORS(CONFIG_HEAD "timeouts: {tcp_new: @10}\n",
		{"timeouts.tcp_new", "\"10\" is no duration: write a whole number and its unit"});
	EXPECT_ERRORS(CONFIG_HEAD "timeouts: {udp: @10 s}\n",
		{"timeouts.udp", "\"10 s\" is no duration"});
	EXPECT_ERRORS(CONFIG_HEAD "timeouts: {udp: @1d}\n", {"timeouts.udp", "is no duration"});
	EXPECT_ERRORS(CONFIG_HEAD "timeouts: {udp: @soon}\n", {"timeouts.udp", "is no duration"});
	EXPECT_ERRORS(CONFIG_HEAD "timeouts: {udp: @-1s}\n", {"timeouts.udp", "out of range"});
	EXPECT_ERRORS(
		CONFIG_HEAD "timeouts: {udp: @0s}\n", {"timeouts.udp", "out of range: 1s to 1h"});
}

static void flow_timeouts_fit_their_stamps(void)
{
	EXPECT_ERRORS(CONFIG_HEAD "timeouts: {tcp_established: @61m}\n",
		{"timeouts.tcp_established", "\"61m\" is out of range: 1s to 1h"});
	EXPECT_ERRORS(CONFIG_HEAD "timeouts: {tcp_established: @3600001ms}\n",
		{"timeouts.tcp_established", "out of range"});
	EXPECT_ERRORS(CONFIG_HEAD "timeouts: {sctp: @1500ms}\n",
		{"timeouts.sctp", "\"1500ms\" is not in whole seconds"});
	/* more milliseconds than 64 bits count */
	EXPECT_ERRORS(CONFIG_HEAD "timeouts: {udp: @18446744073709551615h}\n",
		{"timeouts.udp", "out of range"});
}

static void percentages_need_their_sign(void)
{
	expect_loads(POOL("panic_below: off"));
	expect_loads(POOL("panic_below: 100%"));
	EXPECT_ERRORS(POOL("panic_below: @30"),
		{"pools[web].panic_below", "\"30\" is neither off nor a percentage"});
	EXPECT_ERRORS(POOL("panic_below: @0%"), {"pools[web].panic_below", "\"0%\""});
	EXPECT_ERRORS(POOL("panic_below: @101%"), {"pools[web].panic_below", "\"101%\""});
	EXPECT_ERRORS(POOL("panic_below: @-5%"), {"pools[web].panic_below", "\"-5%\""});
	EXPECT_ERRORS(POOL("panic_below: @\"%\""), {"pools[web].panic_below", "\"%\""});
}

static void words_are_listed_when_one_is_unknown(void)
{
	EXPECT_ERRORS(POOL("on_down: @drop"),
		{"pools[web].on_down", "\"drop\" is not one of: reassign, keep"});
	EXPECT_ERRORS("version: 1\ndataplane: {path: @ebpf, interfaces: [{name: eth1}]}\n",
		{"dataplane.path", "\"ebpf\" is not one of: xdp, dpdk"});
	EXPECT_ERRORS(BACKEND("address: 10.82.0.101, state: @up"),
		{"pools[web].backends[b1].state", "active, drain, disabled"});
}

static void names_are_plain_words(void)
{
	EXPECT_ERRORS(CONFIG_HEAD "pools: [{name: @\"a b\"}]\n", {"pools[a b].name", "is no name"});
	EXPECT_ERRORS(
		CONFIG_HEAD "pools: [{name: @a/b}]\n", {"pools[a/b].name", "\"a/b\" is no name"});
	EXPECT_ERRORS(CONFIG_HEAD "pools: [{name: @-a}]\n", {"pools[-a].name", "is no name"});
	EXPECT_ERRORS(
		CONFIG_HEAD "pools: [{name: @\"\\e[2J\"}]\n", {"pools[?[2J].name", "\"?[2J\""});
	EXPECT_ERRORS(CONFIG_HEAD "pools: [{name: @\"a\\0b\"}]\n", {"pools[a?b].name", "a NUL"});
	/* 64 bytes */
	EXPECT_ERRORS(CONFIG_HEAD
		"pools: [{name: "
		"@aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa}]\n",
		{"pools[aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa...].name",
			"1 to 63"});
}

static void backends_have_one_reachable_address(void)
{
#define ADDRESS "pools[web].backends[b1].address"
	EXPECT_ERRORS(
		BACKEND("address: @10.82.0"), {ADDRESS, "\"10.82.0\" is not an IPv4 or IPv6"});
	EXPECT_ERRORS(BACKEND("address: @10.82.0.256"), {ADDRESS, "is not an IPv4 or IPv6"});
	EXPECT_ERRORS(BACKEND("address: @10.82.0.101/32"), {ADDRESS, "is a prefix"});
	EXPECT_ERRORS(BACKEND("address: @\"::ffff:10.82.0.101\""), {ADDRESS, "IPv6 dress"});
	EXPECT_ERRORS(BACKEND("address: @127.0.0.1"), {ADDRESS, "a loopback address"});
	EXPECT_ERRORS(BACKEND("address: @\"::1\""), {ADDRESS, "the loopback address"});
	EXPECT_ERRORS(BACKEND("address: @224.0.0.1"), {ADDRESS, "a multicast address"});
	EXPECT_ERRORS(BACKEND("address: @\"ff02::1\""), {ADDRESS, "a multicast address"});
	EXPECT_ERRORS(BACKEND("address: @\"fe80::1\""), {ADDRESS, "a link-local address"});
	EXPECT_ERRORS(BACKEND("address: @0.0.0.0"), {ADDRESS, "the unspecified address"});
	EXPECT_ERRORS(BACKEND("address: @255.255.255.255"), {ADDRESS, "the broadcast address"});
	EXPECT_ERRORS(BACKEND("address: @www.example.com"), {ADDRESS, "is not an IPv4 or IPv6"});
}

static void a_backend_with_a_port_is_told_why_not(void)
{
	EXPECT_ERRORS(BACKEND("address: 10.82.0.101, port: @8080"),
		{"pools[web].backends[b1].port", "direct server return"});
}

static void service_prefixes_have_no_host_bits(void)
{
#define VIP "services[web].addresses[0]"
	expect_loads(SERVICE("addresses: [203.0.113.0/24, \"2001:db8::/32\"], ports: [80]"));
	EXPECT_ERRORS(SERVICE("addresses: [@203.0.113.10/24], ports: [80]"),
		{VIP, "\"203.0.113.10/24\" has host bits set: the prefix is 203.0.113.0/24"});
	EXPECT_ERRORS(SERVICE("addresses: [@\"2001:db8::1/33\"], ports: [80]"),
		{VIP, "has host bits set: the prefix is 2001:db8::/33"});
	EXPECT_ERRORS(SERVICE("addresses: [@203.0.113.0/33], ports: [80]"), {VIP, "0 to 32"});
	EXPECT_ERRORS(SERVICE("addresses: [@\"2001:db8::/129\"], ports: [80]"), {VIP, "0 to 128"});
	EXPECT_ERRORS(SERVICE("addresses: [@\"::/0\"], ports: [80]"), {VIP, "all IPv4 addresses"});
	EXPECT_ERRORS(SERVICE("addresses: @[], ports: [80]"),
		{"services[web].addresses", "at least one"});
	EXPECT_ERRORS(SERVICE("addresses: [203.0.113.10, @x], ports: [80]"),
		{"services[web].addresses[1]", "\"x\""});
}

static void ports_are_numbers_ranges_or_any(void)
{
#define PORTS(ports) SERVICE("addresses: [203.0.113.10], ports: " ports)
	expect_loads(PORTS("[80, 8000-8099, 65535]"));
	expect_loads(PORTS("any"));
	EXPECT_ERRORS(
		PORTS("[@0]"), {"services[web].ports[0]", "\"0\" is out of range: 1 to 65535"});
	EXPECT_ERRORS(PORTS("[80, @65616]"), {"services[web].ports[1]", "out of range"});
	EXPECT_ERRORS(PORTS("[@-80]"), {"services[web].ports[0]", "out of range"});
	EXPECT_ERRORS(PORTS("[@8099-8000]"), {"services[web].ports[0]", "runs backwards"});
	EXPECT_ERRORS(
		PORTS("[@8000-]"), {"services[web].ports[0]", "neither a number nor a range"});
	EXPECT_ERRORS(PORTS("[@80-90-100]"), {"services[web].ports[0]", "neither a number"});
	EXPECT_ERRORS(PORTS("[@http]"), {"services[web].ports[0]", "\"http\""});
}

static void protocol_any_goes_with_ports_any(void)
{
#define ANY(rest)                                                                                  \
	CONFIG_HEAD CONFIG_POOL                                                                    \
		"services: [{name: a, pool: web, protocol: any, addresses: [203.0.113.10]" rest    \
		"}]\n"
	expect_loads(ANY(""));
	expect_loads(ANY(", ports: any"));
	EXPECT_ERRORS(ANY(", ports: @[80]"), {"services[a].ports", "must be any"});
	EXPECT_ERRORS(CONFIG_HEAD CONFIG_POOL
		"services: [@{name: a, pool: web, protocol: tcp, addresses: [203.0.113.10]}]\n",
		{"services[a].ports", "is missing"});
}

static void seeds_have_64_bits(void)
{
	struct gw_config *config = expect_config(CONFIG_HEAD "hash_seed: 18446744073709551615\n");

	CU_ASSERT_EQUAL(config->hash_seed, UINT64_MAX);
	gw_config_free(config);
	config = expect_config(CONFIG_HEAD "hash_seed: 0xDEADbeef\n");
	CU_ASSERT_EQUAL(config->hash_seed, 0xdeadbeef);
	gw_config_free(config);
	EXPECT_ERRORS(
		CONFIG_HEAD "hash_seed: @18446744073709551616\n", {"hash_seed", "is not a number"});
	EXPECT_ERRORS(CONFIG_HEAD "hash_seed: @-1\n", {"hash_seed", "is not a number"});
	EXPECT_ERRORS(CONFIG_HEAD "hash_seed: @0x\n", {"hash_seed", "is not a number"});
}

static void cpus_are_a_list_of_different_ones(void)
{
#define CPUS(cpus) "version: 1\ndataplane: {path: dpdk, cpus: " cpus "}\n"
	struct gw_config *config = expect_config(CPUS("\"1-3,0,12\""));
	static const uint16_t want[] = {1, 2, 3, 0, 12};

	CU_ASSERT_EQUAL_FATAL(config->dataplane.cpu_count, 5);
	CU_ASSERT(!memcmp(config->dataplane.cpus, want, sizeof(want)));
	CU_ASSERT_STRING_EQUAL(config->dataplane.cpus_text, "1-3,0,12");
	gw_config_free(config);
	EXPECT_ERRORS(CPUS("@\"1,1\""), {"dataplane.cpus", "\"1,1\" is no list of different CPUs"});
	EXPECT_ERRORS(CPUS("@\"1-3,2\""), {"dataplane.cpus", "is no list"});
	EXPECT_ERRORS(CPUS("@\"3-1\""), {"dataplane.cpus", "is no list"});
	EXPECT_ERRORS(CPUS("@\"1,\""), {"dataplane.cpus", "is no list"});
	EXPECT_ERRORS(CPUS("@\"1024\""), {"dataplane.cpus", "is no list"});
	EXPECT_ERRORS(CPUS("@\"\""), {"dataplane.cpus", "is no list"});
}

static void listening_addresses_are_whole(void)
{
#define LISTEN(at) CONFIG_HEAD "metrics: {listen: " at "}\n"
	struct gw_config *config = expect_config(LISTEN("\"[::1]:9391\""));

	CU_ASSERT_EQUAL(config->metrics.port, 9391);
	CU_ASSERT_EQUAL(config->metrics.address[15], 1);
	gw_config_free(config);
	EXPECT_ERRORS(LISTEN("@\"9391\""), {"metrics.listen", "is not address:port"});
	EXPECT_ERRORS(LISTEN("@\":9391\""), {"metrics.listen", "is not address:port"});
	EXPECT_ERRORS(LISTEN("@\"::1:9391\""), {"metrics.listen", "is not address:port"});
	EXPECT_ERRORS(LISTEN("@\"[127.0.0.1]:9391\""), {"metrics.listen", "is not address:port"});
	EXPECT_ERRORS(LISTEN("@\"127.0.0.1:0\""), {"metrics.listen", "is not address:port"});
	EXPECT_ERRORS(LISTEN("@\"127.0.0.1:65536\""), {"metrics.listen", "is not address:port"});
	EXPECT_ERRORS(LISTEN("@\"]:1\""), {"metrics.listen", "is not address:port"});
}

static void paths_are_absolute(void)
{
	EXPECT_ERRORS(CONFIG_HEAD "state_dir: @state\n", {"state_dir", "not an absolute path"});
	/* 108 bytes: one more than a socket's address holds */
	EXPECT_ERRORS(CONFIG_HEAD
		"api: {unix: "
		"@/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
		"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa}\n",
		{"api.unix", "is longer than 107 bytes"});
}

static const struct gw_test tests[] = {
	GW_TEST(weights_are_whole_numbers_of_32_bits),
	GW_TEST(table_sizes_are_primes_in_range),
	GW_TEST(durations_need_their_unit),
	GW_TEST(flow_timeouts_fit_their_stamps),
	GW_TEST(percentages_need_their_sign),
	GW_TEST(words_are_listed_when_one_is_unknown),
	GW_TEST(names_are_plain_words),
	GW_TEST(backends_have_one_reachable_address),
	GW_TEST(a_backend_with_a_port_is_told_why_not),
	GW_TEST(service_prefixes_have_no_host_bits),
	GW_TEST(ports_are_numbers_ranges_or_any),
	GW_TEST(protocol_any_goes_with_ports_any),
	GW_TEST(seeds_have_64_bits),
	GW_TEST(cpus_are_a_list_of_different_ones),
	GW_TEST(listening_addresses_are_whole),
	GW_TEST(paths_are_absolute),
};

GW_SUITE("config_values", tests)
