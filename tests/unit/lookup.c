/* SPDX-License-Identifier: BSD-2-Clause */
/* Hashes, slots and owners come from tests/unit/reference/maglev.py. */
#include "control/lookup.h"

#include "control_fixture.h"

#include <errno.h>

static struct gw_flow_key parse(const char *text)
{
	char error[GW_LOOKUP_ERROR] = "";
	struct gw_flow_key key;

	CU_ASSERT_EQUAL_FATAL(gw_flow_parse(text, &key, error), 0);
	return key;
}

static struct gw_lookup look(const struct gw_build *build, const char *text)
{
	struct gw_flow_key key = parse(text);
	struct gw_lookup result;

	gw_lookup_flow(build, &key, &result);
	return result;
}

static void check_round_trip(const char *text)
{
	struct gw_flow_key key = parse(text);
	char out[GW_FLOW_TEXT];

	CU_ASSERT_STRING_EQUAL(gw_flow_format(&key, out), text);
}

static void flows_are_read_and_written(void)
{
	struct gw_flow_key key = parse("  tcp   198.51.100.7:40000\t203.0.113.10:80 ");
	static const uint8_t expected[40] = {[10] = 0xff,
		[11] = 0xff,
		198,
		51,
		100,
		7,
		[26] = 0xff,
		[27] = 0xff,
		203,
		0,
		113,
		10,
		0x9c,
		0x40,
		0,
		80,
		6};

	CU_ASSERT_EQUAL(memcmp(&key, expected, sizeof(key)), 0);
	check_round_trip("tcp 198.51.100.7:40000 203.0.113.10:80");
	check_round_trip("udp [2001:db8::7]:5 [2001:db8:113::10]:53");
	check_round_trip("sctp 198.51.100.7:0 203.0.113.10:65535");
	check_round_trip("icmp 198.51.100.7 203.0.113.10");
	check_round_trip("icmpv6 2001:db8::7 2001:db8:113::10");
	check_round_trip("99 2001:db8::7 2001:db8:113::10");
	key = parse("47 [2001:db8::7] 2001:db8:113::10");
	CU_ASSERT_EQUAL(key.protocol, 47);
}

static void check_refused(const char *text, const char *part)
{
	char error[GW_LOOKUP_ERROR] = "";
	struct gw_flow_key key = {.protocol = 1}, untouched = key;

	CU_ASSERT_EQUAL(gw_flow_parse(text, &key, error), -EINVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(error, part));
	CU_ASSERT_EQUAL(memcmp(&key, &untouched, sizeof(key)), 0);
}

static void wrong_flows_are_refused_quoting_what_is_wrong(void)
{
	check_refused("", "is no flow");
	check_refused("tcp 198.51.100.7:1", "is no flow");
	check_refused("tcp 198.51.100.7:1 203.0.113.10:80 x", "is no flow");
	check_refused("tpc 198.51.100.7:1 203.0.113.10:80", "\"tpc\" is no protocol");
	check_refused("256 198.51.100.7 203.0.113.10", "\"256\" is no protocol");
	check_refused("tcp 198.51.100.7 203.0.113.10:80", "lacks a port");
	check_refused("6 198.51.100.7 203.0.113.10:80", "lacks a port: tcp has them");
	check_refused("icmp 198.51.100.7:1 203.0.113.10", "its protocol has none");
	check_refused("tcp 198.51.100.7:65536 203.0.113.10:80", "\"65536\"");
	check_refused("tcp 198.51.100.7:-1 203.0.113.10:80", "is no port");
	check_refused("tcp 198.51.100.700:1 203.0.113.10:80", "is no address");
	check_refused("tcp [2001:db8::7:1 203.0.113.10:80", "is no address");
	check_refused("tcp [2001:db8::7]:1 203.0.113.10:80", "different families");
}

static void decision_is_the_references(void)
{
	struct gw_build *build = fixture_build(FIXTURE_WEB);
	struct gw_lookup result = look(build, "tcp 198.51.100.7:40000 203.0.113.10:80");

	CU_ASSERT_EQUAL(result.reason, GW_LOOKUP_TABLE);
	CU_ASSERT_STRING_EQUAL(result.service->name, "web");
	CU_ASSERT_EQUAL(result.hash, 0xf220deaff87a9e54);
	CU_ASSERT_EQUAL(result.slot, 37482);
	CU_ASSERT_STRING_EQUAL(result.backend->name, "b1");
	result = look(build, "tcp [2001:db8::7]:40000 [2001:db8:113::10]:80");
	CU_ASSERT_EQUAL(result.hash, 0x7cdc665598fae07b);
	CU_ASSERT_EQUAL(result.slot, 12538);
	CU_ASSERT_STRING_EQUAL(result.backend->name, "b3");
	gw_build_free(build);
}

#define WEIGHTED                                                                                   \
	FIXTURE_NODE                                                                               \
	"hash_seed: 12345\n"                                                                       \
	"pools:\n"                                                                                 \
	"  - name: w\n"                                                                            \
	"    table_size: 1021\n"                                                                   \
	"    backends:\n"                                                                          \
	"      - {name: b1, address: 10.82.0.101, weight: 3}\n"                                    \
	"      - {name: b2, address: 10.82.0.102, weight: 1}\n"                                    \
	"      - {name: b3, address: 10.82.0.103, weight: 2}\n"                                    \
	"services:\n"

static void affinity_and_seed_decide_what_is_hashed(void)
{
	struct gw_build *build = fixture_build(WEIGHTED
		"  - {name: five, addresses: [203.0.113.11], protocol: udp, ports: [53], pool: w}\n"
		"  - {name: ip, addresses: [203.0.113.12], protocol: udp, ports: [53], pool: w,"
		" affinity: source_ip}\n"
		"  - {name: pair, addresses: [203.0.113.13], protocol: udp, ports: [53], pool: w,"
		" affinity: source_ip_service}\n");
	struct gw_lookup result = look(build, "udp 198.51.100.7:5 203.0.113.11:53");

	CU_ASSERT_EQUAL(result.hash, 0xe214b792012d1e44);
	CU_ASSERT_EQUAL(result.slot, 821);
	CU_ASSERT_STRING_EQUAL(result.backend->name, "b2");
	result = look(build, "udp 198.51.100.7:9 203.0.113.12:53");
	CU_ASSERT_EQUAL(result.hash, 0xbf3d51f8f8a7704b);
	CU_ASSERT_STRING_EQUAL(result.backend->name, "b1");
	CU_ASSERT_EQUAL(look(build, "udp 198.51.100.7:9 203.0.113.13:53").hash,
		look(build, "udp 198.51.100.7:10 203.0.113.13:53").hash);
	CU_ASSERT_NOT_EQUAL(look(build, "udp 198.51.100.7:9 203.0.113.13:53").hash, result.hash);
	gw_build_free(build);
}

static void service_is_found_by_longest_address_then_protocol_then_port(void)
{
	struct gw_build *build = fixture_build(WEIGHTED
		"  - {name: net, addresses: [203.0.113.0/24, \"2001:db8::/32\"], protocol: tcp,"
		" ports: [any], pool: w}\n"
		"  - {name: half, addresses: [203.0.113.128/25], protocol: any, ports: [any],"
		" pool: w}\n"
		"  - {name: one, addresses: [203.0.113.200], protocol: tcp, ports: [80], pool: w}\n"
		"  - {name: kept, addresses: [203.0.113.201], protocol: tcp, ports: [80], pool: w,"
		" no_service: host}\n");
	struct gw_lookup result;

	CU_ASSERT_STRING_EQUAL(look(build, "tcp 10.0.0.1:1 203.0.113.5:9").service->name, "net");
	CU_ASSERT_STRING_EQUAL(look(build, "tcp 10.0.0.1:1 203.0.113.130:9").service->name, "half");
	CU_ASSERT_STRING_EQUAL(look(build, "gre 10.0.0.1 203.0.113.130").service->name, "half");
	CU_ASSERT_STRING_EQUAL(look(build, "gre 10.0.0.1 203.0.113.255").service->name, "half");
	CU_ASSERT_EQUAL(look(build, "gre 10.0.0.1 203.0.113.127").reason, GW_LOOKUP_NO_SERVICE);
	CU_ASSERT_STRING_EQUAL(look(build, "tcp 10.0.0.1:1 203.0.113.200:80").service->name, "one");
	/* No fall-back to a shorter address. */
	result = look(build, "tcp 10.0.0.1:1 203.0.113.200:81");
	CU_ASSERT_EQUAL(result.reason, GW_LOOKUP_NO_SERVICE);
	CU_ASSERT_PTR_NULL(result.service);
	CU_ASSERT_EQUAL(look(build, "udp 10.0.0.1:1 203.0.113.5:9").reason, GW_LOOKUP_NO_SERVICE);
	CU_ASSERT_EQUAL(look(build, "tcp 10.0.0.1:1 203.0.113.201:81").reason, GW_LOOKUP_HOST);
	CU_ASSERT_EQUAL(look(build, "tcp 10.0.0.1:1 203.0.112.1:80").reason, GW_LOOKUP_HOST);
	CU_ASSERT_STRING_EQUAL(
		look(build, "tcp [fd81::2]:1 [2001:db8:ffff::1]:1").service->name, "net");
	CU_ASSERT_EQUAL(look(build, "tcp [::1]:1 [2001:db9::1]:1").reason, GW_LOOKUP_HOST);
	gw_build_free(build);
}

static void check_dropped(
	const struct gw_build *build, const char *flow, enum gw_lookup_reason reason)
{
	struct gw_lookup result = look(build, flow);

	CU_ASSERT_EQUAL(result.reason, reason);
	CU_ASSERT_PTR_NULL(result.backend);
	if (result.reason != reason)
		fprintf(stderr, "  %s\n", flow);
}

/* packets.md: martian sources and ICMP never come as far as the table. */
static void what_the_datapaths_drop_has_no_backend(void)
{
	struct gw_build *build = fixture_build(WEIGHTED
		"  - {name: all, addresses: [203.0.113.10, \"2001:db8:113::10\"], protocol: any,"
		" ports: [any], pool: w}\n");
	static const char *const martians[] = {
		"tcp 203.0.113.10:1 203.0.113.10:80",
		"tcp 127.0.0.1:1 203.0.113.10:80",
		"tcp 224.0.0.1:1 203.0.113.10:80",
		"tcp 255.255.255.255:1 203.0.113.10:80",
		"tcp 0.0.0.0:1 203.0.113.10:80",
		"tcp [::1]:1 [2001:db8:113::10]:80",
		"tcp [ff02::1]:1 [2001:db8:113::10]:80",
		"tcp [2001:db8:113::10]:1 [2001:db8:113::10]:80",
		"icmp 127.0.0.1 203.0.113.10",
	};

	for (size_t i = 0; i < sizeof(martians) / sizeof(martians[0]); i++)
		check_dropped(build, martians[i], GW_LOOKUP_MARTIAN);
	check_dropped(build, "icmp 198.51.100.7 203.0.113.10", GW_LOOKUP_ICMP_OTHER);
	check_dropped(build, "icmpv6 2001:db8::7 2001:db8:113::10", GW_LOOKUP_ICMP_OTHER);
	/* ICMP's number of the other family is a protocol like any. */
	CU_ASSERT_EQUAL(look(build, "icmpv6 198.51.100.7 203.0.113.10").reason, GW_LOOKUP_TABLE);
	CU_ASSERT_EQUAL(look(build, "tcp 127.0.0.1:1 203.0.112.1:80").reason, GW_LOOKUP_HOST);
	CU_ASSERT_STRING_EQUAL(gw_lookup_reason_name(GW_LOOKUP_MARTIAN), "martian");
	CU_ASSERT_STRING_EQUAL(gw_lookup_reason_name(GW_LOOKUP_ICMP_OTHER), "icmp_other");
	gw_build_free(build);
}

static void tracked_flow_stays_while_its_backend_may_keep_it(void)
{
	struct gw_config *config = fixture_config(FIXTURE_WEB);
	const char *const down[] = {"b2"};
	struct gw_flow_answer answer = {.found = true};
	char error[GW_BUILD_ERROR];
	struct gw_build *build;
	struct gw_lookup result = {0};

	CU_ASSERT_EQUAL_FATAL(gw_build_offline(config, down, 1, NULL, &build, error), 0);
	result = look(build, "tcp 198.51.100.7:40000 203.0.113.10:80");
	answer.backend = build->pools[0].backends[2].id;
	gw_lookup_track(build, &answer, &result);
	CU_ASSERT_EQUAL(result.reason, GW_LOOKUP_TRACKED);
	CU_ASSERT_STRING_EQUAL(result.backend->name, "b3");
	result = look(build, "tcp 198.51.100.7:40000 203.0.113.10:80");
	answer.backend = build->pools[0].backends[1].id; /* down */
	gw_lookup_track(build, &answer, &result);
	CU_ASSERT_EQUAL(result.reason, GW_LOOKUP_TABLE);
	CU_ASSERT_STRING_NOT_EQUAL(result.backend->name, "b2");
	answer.backend = 262143;
	gw_lookup_track(build, &answer, &result);
	CU_ASSERT_EQUAL(result.reason, GW_LOOKUP_TABLE);
	gw_build_free(build);
	gw_config_free(config);
}

static void of_a_service_that_tracks_no_flows_the_table_alone_decides(void)
{
	struct gw_build *build = fixture_build(FIXTURE_NODE
		"pools:\n"
		"  - name: dns\n"
		"    healthcheck: {type: none}\n"
		"    backends: [{name: d1, address: 10.82.0.101}, {name: d2, address: "
		"10.82.0.102}]\n"
		"services:\n"
		"  - {name: dns, addresses: [203.0.113.10], protocol: udp, ports: [53], pool: dns,"
		" track_flows: false}\n");
	struct gw_lookup result = look(build, "udp 198.51.100.7:40000 203.0.113.10:53");
	const struct gw_build_backend *named = result.backend;
	const struct gw_service *record = fixture_section(build, &build->snapshot->data->services);
	char text[1024];

	CU_ASSERT_EQUAL(record[result.service->id].flags, GW_SERVICE_UNTRACKED);
	CU_ASSERT_EQUAL(result.reason, GW_LOOKUP_TABLE_ONLY);
	CU_ASSERT_STRING_EQUAL(gw_lookup_reason_name(result.reason), "table_only");
	for (size_t b = 0; b < 2; b++) { /* what is left of the time when it did */
		struct gw_flow_answer answer = {
			.found = true, .backend = build->pools[0].backends[b].id};

		gw_lookup_track(build, &answer, &result);
		CU_ASSERT_EQUAL(result.reason, GW_LOOKUP_TABLE_ONLY);
		CU_ASSERT_PTR_EQUAL(result.backend, named);
		CU_ASSERT_FALSE(result.tracked);
	}
	gw_lookup_print(build, &(struct gw_flow_key){0}, &result, text, sizeof(text));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "service dns does not track flows"));
	gw_build_free(build);
}

static const char *text_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "(none)";
}

static void json_has_the_contracts_fields(void)
{
	struct gw_build *build = fixture_build(FIXTURE_WEB);
	struct gw_flow_key key = parse("tcp 198.51.100.7:40000 203.0.113.10:80");
	struct gw_lookup result;
	json_t *object;

	gw_lookup_flow(build, &key, &result);
	object = gw_lookup_json(build, &key, &result);
	CU_ASSERT_STRING_EQUAL(text_of(object, "service"), "web");
	CU_ASSERT_STRING_EQUAL(text_of(object, "pool"), "web");
	CU_ASSERT_STRING_EQUAL(text_of(object, "hash"), "f220deaff87a9e54");
	CU_ASSERT_EQUAL(json_integer_value(json_object_get(object, "slot")), 37482);
	CU_ASSERT_STRING_EQUAL(text_of(object, "backend"), "b1");
	CU_ASSERT_EQUAL(json_integer_value(json_object_get(object, "table_size")), 65537);
	CU_ASSERT_EQUAL(json_integer_value(json_object_get(object, "table_version")), 1);
	CU_ASSERT_STRING_EQUAL(text_of(object, "digest"), "29fa1076eb4612f82463986af5a0f26b");
	CU_ASSERT_STRING_EQUAL(text_of(object, "reason"), "table");
	json_decref(object);
	key = parse("tcp 198.51.100.7:40000 203.0.113.10:81");
	gw_lookup_flow(build, &key, &result);
	object = gw_lookup_json(build, &key, &result);
	CU_ASSERT_STRING_EQUAL(text_of(object, "reason"), "no_service");
	CU_ASSERT_TRUE(json_is_null(json_object_get(object, "backend")));
	CU_ASSERT_TRUE(json_is_null(json_object_get(object, "slot")));
	json_decref(object);
	gw_build_free(build);
}

static const struct gw_test tests[] = {
	GW_TEST(flows_are_read_and_written),
	GW_TEST(wrong_flows_are_refused_quoting_what_is_wrong),
	GW_TEST(decision_is_the_references),
	GW_TEST(affinity_and_seed_decide_what_is_hashed),
	GW_TEST(service_is_found_by_longest_address_then_protocol_then_port),
	GW_TEST(what_the_datapaths_drop_has_no_backend),
	GW_TEST(tracked_flow_stays_while_its_backend_may_keep_it),
	GW_TEST(of_a_service_that_tracks_no_flows_the_table_alone_decides),
	GW_TEST(json_has_the_contracts_fields),
};

GW_SUITE("lookup", tests)
