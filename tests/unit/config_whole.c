/* SPDX-License-Identifier: BSD-2-Clause */
/* Keys, and what only the whole file shows: names, overlaps, families, checks. */
#include "config_expect.h"

static void unknown_keys_name_the_nearest(void)
{
	EXPECT_ERRORS(CONFIG_HEAD "@poools: []\n",
		{"poools", "unknown key \"poools\"; the nearest valid key is \"pools\""});
	EXPECT_ERRORS(CONFIG_HEAD "pools:\n"
				  "  - name: web\n"
				  "    backends:\n"
				  "      - {name: b1, address: 10.82.0.101, @wieght: 1}\n"
				  "    healthcheck: {type: tcp, port: 80, @intervall: 1s}\n",
		{"pools[web].backends[b1].wieght", "the nearest valid key is \"weight\""},
		{"pools[web].healthcheck.intervall", "the nearest valid key is \"interval\""});
	EXPECT_ERRORS(CONFIG_HEAD "timeouts: {@tcp_establish: 1s}\n",
		{"timeouts.tcp_establish", "\"tcp_established\""});
}

static void duplicate_keys_name_the_first(void)
{
	EXPECT_ERRORS(CONFIG_HEAD "pools: []\n@pools: []\n",
		{"pools", "duplicate key, first given in line 4"});
	EXPECT_ERRORS(CONFIG_HEAD "pools:\n  - name: web\n    encap: ipip\n    @encap: ipip\n",
		{"pools[web].encap", "duplicate key, first given in line 6"});
}

static void odd_keys_are_refused(void)
{
	EXPECT_ERRORS(CONFIG_HEAD "pools:\n  - &a {name: web}\n  - {@<<: *a, name: api}\n",
		{"pools[api].<<", "merge keys are not supported"});
	EXPECT_ERRORS(CONFIG_HEAD "? @[a, b]\n: 1\n", {"", "a key is a word"});
	EXPECT_ERRORS(CONFIG_HEAD "pools: @web\n", {"pools", "must be a list"});
	EXPECT_ERRORS(CONFIG_HEAD "pools: [@web]\n", {"pools[0]", "must be keys with values"});
	EXPECT_ERRORS(CONFIG_HEAD "timeouts: @[1s]\n", {"timeouts", "must be keys with values"});
	EXPECT_ERRORS(CONFIG_HEAD "timeouts:@\n", {"timeouts", "must be keys with values"});
}

static void missing_keys_are_named(void)
{
	EXPECT_ERRORS("@dataplane: {path: dpdk}\n", {"version", "is missing"});
	EXPECT_ERRORS("@version: @2\n", {"dataplane.interfaces", "is missing"},
		{"version", "\"2\" is not a version"});
	EXPECT_ERRORS(CONFIG_HEAD "pools: [{name: web, backends: [@{name: b1}]}, @{encap: ipip}]\n",
		{"pools[web].backends[b1].address", "is missing"}, {"pools[1].name", "is missing"});
	EXPECT_ERRORS(CONFIG_HEAD CONFIG_POOL
		"services: [@@{name: web, addresses: [203.0.113.10]}]\n",
		{"services[web].protocol", "is missing"}, {"services[web].pool", "is missing"});
}

static void what_this_version_lacks_is_refused_by_name(void)
{
	EXPECT_ERRORS(CONFIG_HEAD CONFIG_POOL
		"services: [{name: web, addresses: [203.0.113.10], protocol: tcp, ports: [80],"
		" pool: web, announce: @bgp}]\n",
		{"services[web].announce", "is not available in this version"});
}

static void all_errors_come_in_one_go_in_the_order_of_the_file(void)
{
	EXPECT_ERRORS(
		"version: 1\n"
		"node: {name: lb1, source_ipv4: @\"fd82::11\"}\n"
		"dataplane: {path: xdp, interfaces: [{name: @0123456789abcdef}], flows: @12}\n"
		"services:\n"
		"  - {name: web, addresses: [203.0.113.10], protocol: tcp, ports: [80],"
		" pool: @wbe}\n"
		"pools:\n"
		"  - name: web\n"
		"    table_size: @100\n"
		"    backends:\n"
		"      - {name: b1, address: @10.82.0.101, weight: @-1}\n"
		"      - @{@nmae: b2, address: 10.82.0.102, @naem: x}\n"
		"@nonsense: 1\n",
		{"node.source_ipv4", "\"fd82::11\" is not an IPv4 address"},
		{"dataplane.interfaces[0123456789abcdef].name",
			"cannot be the name of an interface"},
		{"dataplane.flows", "\"12\" is out of range"},
		{"services[web].pool", "unknown pool \"wbe\"; the nearest is \"web\""},
		{"pools[web].table_size", "is not a prime; the nearest are 97 and 101"},
		{"pools[web].backends[b1].address", "source_ipv4"},
		{"pools[web].backends[b1].weight", "out of range"},
		{"pools[web].backends[1].name", "is missing"},
		{"pools[web].backends[1].nmae", "\"name\""},
		{"pools[web].backends[1].naem", "\"name\""}, {"nonsense", "unknown key"});
}

static void names_are_unique(void)
{
	EXPECT_ERRORS(CONFIG_HEAD "pools:\n"
				  "  - {name: web}\n"
				  "  - @{name: web}\n"
				  "  - name: api\n"
				  "    backends:\n"
				  "      - {name: b1, address: 10.82.0.101}\n"
				  "      - @{name: b1, address: 10.82.0.102}\n",
		{"pools[web].name", "duplicate pool \"web\", first given in line 5"},
		{"pools[api].backends[b1].name",
			"duplicate backend \"b1\", first given in line 9"});
	EXPECT_ERRORS(CONFIG_HEAD CONFIG_POOL "services:\n"
					      "  - {name: web, addresses: [203.0.113.10], "
					      "protocol: tcp, ports: [80], pool: web}\n"
					      "  - @{name: web, addresses: [203.0.113.11], "
					      "protocol: tcp, ports: [80], pool: web}\n",
		{"services[web].name", "duplicate service \"web\", first given in line 6"});
}

static void the_same_name_in_two_pools_is_two_backends(void)
{
	struct gw_config *config = expect_config(
		CONFIG_HEAD "pools:\n"
			    "  - {name: web, backends: [{name: b1, address: 10.82.0.101}]}\n"
			    "  - {name: api, backends: [{name: b1, address: 10.82.0.101}]}\n");

	CU_ASSERT_STRING_EQUAL(config->pools[0].backends[0].id, "web/b1");
	CU_ASSERT_STRING_EQUAL(config->pools[1].backends[0].id, "api/b1");
	gw_config_free(config);
}

static void members_of_a_pool_differ_in_address_and_key(void)
{
#define MEMBERS(first, second)                                                                     \
	CONFIG_HEAD "pools:\n  - name: web\n    backends:\n      - {name: b1, " first              \
		    "}\n      - {name: b2, " second "}\n"
	EXPECT_ERRORS(MEMBERS("address: \"fd82::101\"", "address: @\"FD82:0::0101\""),
		{"pools[web].backends[b2].address",
			"duplicate address \"fd82::101\", first given in line 7"});
	EXPECT_ERRORS(MEMBERS("address: 10.82.0.101, key: one", "address: 10.82.0.102, key: @one"),
		{"pools[web].backends[b2].key",
			"duplicate member key \"one\", first given in line 7"});
	/* a key that is the text of another one's address would be that member's key */
	EXPECT_ERRORS(MEMBERS("address: 10.82.0.101, key: 10.82.0.102", "address: @10.82.0.102"),
		{"pools[web].backends[b2].address", "duplicate member key \"10.82.0.102\""});
	expect_loads(MEMBERS("address: 10.82.0.101, key: 10.82.0.102",
		"address: 10.82.0.102, key: 10.82.0.101"));
}

static void backends_need_a_source_of_their_family(void)
{
	EXPECT_ERRORS("version: 1\nnode: {source_ipv4: 10.82.0.11}\ndataplane: {path: dpdk}\n"
		      "pools: [{name: web, backends: [{name: b4, address: 10.82.0.101},"
		      " {name: b6, address: @\"fd82::101\"}]}]\n",
		{"pools[web].backends[b6].address", "source_ipv6"});
	EXPECT_ERRORS("version: 1\nnode: {source_ipv6: \"fd82::11\"}\ndataplane: {path: dpdk}\n"
		      "pools: [{name: web, backends: [{name: b4, address: @10.82.0.101}]}]\n",
		{"pools[web].backends[b4].address", "source_ipv4"});
	EXPECT_ERRORS("version: 1\nnode: {source_ipv6: @10.82.0.11}\ndataplane: {path: dpdk}\n",
		{"node.source_ipv6", "\"10.82.0.11\" is not an IPv6 address"});
	EXPECT_ERRORS(CONFIG_HEAD
		"pools: [{name: web, backends: [{name: b1, address: @10.82.0.11}]}]\n",
		{"pools[web].backends[b1].address", "the balancer's own address"});
}

static void a_service_address_is_no_backends_address(void)
{
	EXPECT_ERRORS(CONFIG_HEAD CONFIG_POOL
		"services: [{name: web, addresses: [203.0.113.10, @10.82.0.101], protocol: tcp,"
		" ports: [80], pool: web}]\n",
		{"services[web].addresses", "also the address of a backend"});
	expect_loads(CONFIG_HEAD CONFIG_POOL
		"services: [{name: web, addresses: [10.82.0.0/16], protocol: tcp, ports: [80],"
		" pool: web}]\n");
}

static void tables_have_room_for_all_members(void)
{
	EXPECT_ERRORS(CONFIG_HEAD "pools:\n  - name: web\n    table_size: @2\n    backends:\n"
				  "      - {name: b1, address: 10.82.0.101}\n"
				  "      - {name: b2, address: 10.82.0.102}\n"
				  "      - {name: b3, address: 10.82.0.103}\n",
		{"pools[web].table_size", "2 slots are fewer than the pool's 3 backends"});
	EXPECT_ERRORS(CONFIG_HEAD "pools:\n  - @name: web\n    backends:\n"
				  "      - {name: b1, address: 10.82.0.101, weight: 2147483648}\n"
				  "      - {name: b2, address: 10.82.0.102, weight: 2147483648}\n",
		{"pools[web].backends", "the weights add up to 4294967296"});
}

static void interfaces_suit_their_path(void)
{
#define INTERFACES(path, list) "version: 1\ndataplane: {path: " path ", interfaces: [" list "]}\n"
	expect_loads(
		INTERFACES("dpdk", "{pci: \"0000:01:00.0\"}, {vdev: \"net_tap0\"}, {name: eth1}"));
	EXPECT_ERRORS(INTERFACES("xdp", "@{pci: \"0000:01:00.0\"}"),
		{"dataplane.interfaces[0]", "with path xdp an interface has a name"});
	EXPECT_ERRORS(INTERFACES("dpdk", "@{name: eth1, vdev: net_tap0}"),
		{"dataplane.interfaces[eth1]", "exactly one"});
	EXPECT_ERRORS(INTERFACES("dpdk", "{pci: @\"1:0.0\"}, @{}"),
		{"dataplane.interfaces[0].pci", "no PCI address"},
		{"dataplane.interfaces[1]", "exactly one"});
	EXPECT_ERRORS(INTERFACES("dpdk", "{name: eth1, mode: @native}"),
		{"dataplane.interfaces[eth1].mode", "no meaning with path dpdk"});
	EXPECT_ERRORS(INTERFACES("xdp", "{name: eth1}, @{name: eth1}"),
		{"dataplane.interfaces[eth1]", "once more"});
	EXPECT_ERRORS("@version: 1\n", {"dataplane.interfaces", "is missing"});
}

static void checks_say_only_what_their_type_looks_at(void)
{
#define CHECK(keys)                                                                                \
	CONFIG_HEAD "pools:\n  - {name: web, backends: [{name: b1, address: 10.82.0.101}],"        \
		    " healthcheck: {" keys "}}\n"
	EXPECT_ERRORS(CHECK("type: tcp, port: 80, path: @/healthz, expect: @200"),
		{"pools[web].healthcheck.path", "no meaning in a check of type tcp"},
		{"pools[web].healthcheck.expect", "no meaning in a check of type tcp"});
	EXPECT_ERRORS(CHECK("type: http, port: 80, path: @healthz"),
		{"pools[web].healthcheck.path", "does not begin with"});
	EXPECT_ERRORS(CHECK("type: http, port: 80, expect: [200-299, @600]"),
		{"pools[web].healthcheck.expect[1]", "\"600\" is out of range: 100 to 599"});
	EXPECT_ERRORS(CHECK("type: http, port: 80, host: @\"a\\r\\nX-Evil: 1\""),
		{"pools[web].healthcheck.host", "not printable"});
	EXPECT_ERRORS(CHECK("type: http, port: 80, path: @\"/a HTTP/1.0\""),
		{"pools[web].healthcheck.path", "blank"});
	EXPECT_ERRORS(
		CHECK("type: tcp, port: @0"), {"pools[web].healthcheck.port", "out of range"});
	EXPECT_ERRORS(CHECK("type: tcp, port: 80, rise: @0"),
		{"pools[web].healthcheck.rise", "out of range"});
	EXPECT_ERRORS(CHECK("type: tcp, port: 80, interval: 1s, timeout: @2s"),
		{"pools[web].healthcheck.timeout", "longer than the interval"});
	EXPECT_ERRORS(CONFIG_HEAD
		"pools: [{name: web, backends: [{name: b1, address: 10.82.0.101}],"
		" healthcheck: @{type: tcp}}]\n",
		{"pools[web].healthcheck.port", "is missing"});
}

static void checks_of_each_type_have_their_keys(void)
{
	EXPECT_ERRORS(CHECK("type: icmp, port: @80"),
		{"pools[web].healthcheck.port", "no meaning in a check of type icmp"});
	EXPECT_ERRORS(CHECK("type: http, port: 80, sni: @a.example.test, verify: @false"),
		{"pools[web].healthcheck.sni", "only with type https"},
		{"pools[web].healthcheck.verify", "only with type https"});
	EXPECT_ERRORS(CHECK("type: udp, port: 53, body: @x"),
		{"pools[web].healthcheck.body", "only with type http or https"});
	EXPECT_ERRORS(CONFIG_HEAD "pools:\n  - {name: web, backends: [],"
				  " healthcheck: @{type: dns, port: 53}}\n",
		{"pools[web].healthcheck.query", "is missing"});
	EXPECT_ERRORS(CHECK("type: dns, port: 53, query: @a..b"),
		{"pools[web].healthcheck.query", "not a name of the DNS"});
	EXPECT_ERRORS(CHECK("type: dns, port: 53, query: a.b, rcode: [NOERROR, @SERVFAULT]"),
		{"pools[web].healthcheck.rcode[1]", "no response code"});
	EXPECT_ERRORS(CHECK("type: udp, port: 53, send: @\"hex:123\""),
		{"pools[web].healthcheck.send", "hexadecimal"});
	EXPECT_ERRORS(CHECK("type: tcp, port: 80, fast_interval: @200ms, timeout: 500ms"),
		{"pools[web].healthcheck.timeout", "longer than the fast interval of 200 ms"});
}

static void rules_of_coming_back_are_checked(void)
{
#define RULES(keys) CONFIG_HEAD "pools:\n  - {name: web, backends: [], " keys "}\n"
	EXPECT_ERRORS(RULES("slow_start: @{from: 10%}"),
		{"pools[web].slow_start.duration", "is missing"});
	EXPECT_ERRORS(RULES("slow_start: {duration: 30s, from: @100%}"),
		{"pools[web].slow_start.from", "share from 1% to 99%"});
	EXPECT_ERRORS(RULES("enter_limit: {count: @0, per: 1s}"),
		{"pools[web].enter_limit.count", "out of range"});
	EXPECT_ERRORS(CONFIG_HEAD "pools:\n  - @{name: web, backends: [],"
				  " damping: {hold: 1m, hold_max: 30s}}\n",
		{"pools[web].damping.hold_max", "shorter than the first hold"});
	EXPECT_ERRORS(CONFIG_HEAD "healthcheck_mark: {bits: @0xf0f0}\n",
		{"healthcheck_mark.bits", "one run of at least two bits"});
	EXPECT_ERRORS(
		CONFIG_HEAD "hooks: {transition: @bin/hook}\n", {"hooks.transition", "absolute"});
}

static const struct gw_test tests[] = {
	GW_TEST(unknown_keys_name_the_nearest),
	GW_TEST(duplicate_keys_name_the_first),
	GW_TEST(odd_keys_are_refused),
	GW_TEST(missing_keys_are_named),
	GW_TEST(what_this_version_lacks_is_refused_by_name),
	GW_TEST(all_errors_come_in_one_go_in_the_order_of_the_file),
	GW_TEST(names_are_unique),
	GW_TEST(the_same_name_in_two_pools_is_two_backends),
	GW_TEST(members_of_a_pool_differ_in_address_and_key),
	GW_TEST(backends_need_a_source_of_their_family),
	GW_TEST(a_service_address_is_no_backends_address),
	GW_TEST(tables_have_room_for_all_members),
	GW_TEST(interfaces_suit_their_path),
	GW_TEST(checks_say_only_what_their_type_looks_at),
	GW_TEST(checks_of_each_type_have_their_keys),
	GW_TEST(rules_of_coming_back_are_checked),
};

GW_SUITE("config_whole", tests)
