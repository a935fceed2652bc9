/* SPDX-License-Identifier: BSD-2-Clause */
/* What good files become: every key's value, the defaults, what is inherited, and back to text. */
#include "config_expect.h"

#include <netinet/in.h>

/* The sample of the documentation, with all that it shows. */
static const char sample[] =
	"version: 1\n"
	"node: {name: lb1, source_ipv4: 10.82.0.11, source_ipv6: \"fd82::11\"}\n"
	"hash_seed: 0                       # one for the fleet\n"
	"dataplane:\n"
	"  path: xdp                        # or dpdk\n"
	"  interfaces: [{name: eth1, mode: auto}]\n"
	"  cpus: \"1\"                        # workers' CPUs (dpdk)\n"
	"  poll: adaptive                   # or busy\n"
	"  flows: 1048576\n"
	"timeouts: {tcp_new: 10s, tcp_established: 15m, tcp_closing: 60s, udp: 60s, sctp: 5m,"
	" fragment: 2s}\n"
	"defaults:\n"
	"  healthcheck: {type: tcp, interval: 2s, timeout: 1s, rise: 2, fall: 3}\n"
	"pools:\n"
	"  - name: web\n"
	"    encap: ipip                    # ipip | gue | gre | l2\n"
	"    table_size: 65537\n"
	"    panic_below: off\n"
	"    on_down: reassign\n"
	"    drain_timeout: 5m\n"
	"    healthcheck: {type: http, port: 80, path: /healthz, expect: 200-299, via: direct}\n"
	"    backends:\n"
	"      - {name: b1, address: 10.82.0.101, weight: 1, state: active}\n"
	"services:\n"
	"  - {name: web, addresses: [203.0.113.10, \"2001:db8:113::10\"], protocol: tcp,"
	" ports: [80], pool: web, affinity: 5tuple, announce: none}\n"
	"api: {unix: /run/guideway/control.sock}\n"
	"metrics: {listen: \"127.0.0.1:9391\"}\n";

static void address_is(const uint8_t address[16], const char *text)
{
	uint8_t want[16];

	CU_ASSERT_EQUAL_FATAL(gw_address_parse(text, want), 0);
	CU_ASSERT(!memcmp(address, want, sizeof(want)));
}

static void the_documented_sample_has_its_values(void)
{
	struct gw_config *config = expect_config(sample);
	const struct gw_config_pool *pool = gw_config_pool_find(config, "web");
	const struct gw_config_service *service = gw_config_service_find(config, "web");

	CU_ASSERT_STRING_EQUAL(config->node.name, "lb1");
	address_is(config->node.source_ipv4, "10.82.0.11");
	address_is(config->node.source_ipv6, "fd82::11");
	CU_ASSERT_EQUAL(config->dataplane.path, GW_CONFIG_PATH_XDP);
	CU_ASSERT_STRING_EQUAL(config->dataplane.interfaces[0].name, "eth1");
	CU_ASSERT_EQUAL(config->dataplane.interfaces[0].mode, GW_CONFIG_XDP_AUTO);
	CU_ASSERT_EQUAL(config->dataplane.flows, 1048576);
	CU_ASSERT_FALSE(config->dataplane.poll_busy);
	CU_ASSERT_EQUAL(config->timeouts.tcp_new, 10);
	CU_ASSERT_EQUAL(config->timeouts.tcp_established, 900);
	CU_ASSERT_EQUAL(config->timeouts.sctp, 300);
	CU_ASSERT_EQUAL(config->timeouts.fragment_ms, 2000);
	CU_ASSERT_PTR_NOT_NULL_FATAL(pool);
	CU_ASSERT_PTR_EQUAL(service->pool, pool);
	CU_ASSERT_EQUAL(pool->check.type, GW_CONFIG_CHECK_HTTP);
	CU_ASSERT_EQUAL(pool->check.interval_ms, 2000);
	CU_ASSERT_EQUAL(pool->check.timeout_ms, 1000);
	CU_ASSERT_EQUAL(pool->check.rise, 2);
	CU_ASSERT_EQUAL(pool->check.fall, 3);
	CU_ASSERT_EQUAL(pool->check.expect[0].low, 200);
	CU_ASSERT_EQUAL(pool->check.expect[0].high, 299);
	CU_ASSERT_STRING_EQUAL(pool->check.path, "/healthz");
	CU_ASSERT_EQUAL(pool->drain_timeout_ms, 300000);
	CU_ASSERT_EQUAL(service->protocol, IPPROTO_TCP);
	CU_ASSERT_EQUAL(service->address_count, 2);
	CU_ASSERT_EQUAL(service->addresses[1].prefix.length, 128);
	address_is(service->addresses[1].prefix.address, "2001:db8:113::10");
	CU_ASSERT_EQUAL(config->metrics.port, 9391);
	gw_config_free(config);
}

static void what_is_not_said_has_defaults(void)
{
	struct gw_config *config = expect_config(CONFIG_HEAD CONFIG_POOL);
	const struct gw_config_pool *pool = &config->pools[0];

	CU_ASSERT_EQUAL(pool->encap, GW_ENCAP_IPIP);
	CU_ASSERT_EQUAL(pool->table_size, 65537);
	CU_ASSERT_EQUAL(pool->panic_below, 0);
	CU_ASSERT_FALSE(pool->keep_on_down);
	CU_ASSERT_EQUAL(pool->check.type, GW_CONFIG_CHECK_NONE);
	CU_ASSERT_EQUAL(pool->backends[0].weight, 1);
	CU_ASSERT_EQUAL(pool->backends[0].state, GW_CONFIG_ACTIVE);
	CU_ASSERT_STRING_EQUAL(config->dataplane.socket, "/run/guideway/dataplane.sock");
	CU_ASSERT_STRING_EQUAL(config->api.control.path, "/run/guideway/control.sock");
	CU_ASSERT_PTR_NULL(config->metrics.text);
	gw_config_free(config);
}

static void member_keys_are_the_key_or_the_address_in_rfc_5952_text(void)
{
	struct gw_config *config = expect_config(
		CONFIG_HEAD "pools:\n"
			    "  - name: web\n"
			    "    backends:\n"
			    "      - {name: b1, address: 10.82.0.101}\n"
			    "      - {name: b2, address: \"FD82:0:0:0:00AB::1\"}\n"
			    "      - {name: b3, address: 10.82.0.103, key: \"rack7:12\"}\n");
	const struct gw_config_pool *pool = &config->pools[0];

	CU_ASSERT_STRING_EQUAL(pool->backends[0].key, "10.82.0.101");
	CU_ASSERT_STRING_EQUAL(pool->backends[1].key, "fd82::ab:0:0:1");
	CU_ASSERT_STRING_EQUAL(pool->backends[2].key, "rack7:12");
	gw_config_free(config);
}

static void names_find_what_they_name(void)
{
	struct gw_config *config = expect_config(
		CONFIG_HEAD "pools:\n"
			    "  - {name: zeta, backends: [{name: b9, address: 10.82.0.109},"
			    " {name: b10, address: 10.82.0.110}]}\n"
			    "  - {name: alpha}\n");
	const struct gw_config_pool *pool = gw_config_pool_find(config, "zeta");

	CU_ASSERT_PTR_EQUAL(pool, &config->pools[0]);
	CU_ASSERT_PTR_EQUAL(gw_config_pool_find(config, "alpha"), &config->pools[1]);
	CU_ASSERT_PTR_NULL(gw_config_pool_find(config, "beta"));
	CU_ASSERT_PTR_EQUAL(gw_config_backend_find(pool, "b10"), &pool->backends[1]);
	CU_ASSERT_PTR_NULL(gw_config_backend_find(&config->pools[1], "b10"));
	CU_ASSERT_PTR_NULL(gw_config_service_find(config, "web"));
	gw_config_free(config);
}

static void a_pools_check_takes_from_the_defaults_key_by_key(void)
{
	struct gw_config *config = expect_config(CONFIG_HEAD
		"pools:\n"
		"  - {name: a, healthcheck: {interval: 5s}}\n"
		"  - {name: b, healthcheck: {type: tcp}}\n"
		"  - {name: c, healthcheck: {type: none}}\n"
		"  - {name: d, healthcheck: {interval: 500ms}}\n"
		"defaults: {healthcheck: {type: http, port: 81, path: /up, rise: 5}}\n");
	const struct gw_config_check *check = &config->pools[0].check;

	CU_ASSERT_EQUAL(check->type, GW_CONFIG_CHECK_HTTP);
	CU_ASSERT_EQUAL(check->interval_ms, 5000);
	CU_ASSERT_EQUAL(check->timeout_ms, 1000);
	CU_ASSERT_EQUAL(check->rise, 5);
	CU_ASSERT_EQUAL(check->port, 81);
	CU_ASSERT_STRING_EQUAL(check->path, "/up");
	CU_ASSERT_EQUAL(config->pools[1].check.type, GW_CONFIG_CHECK_TCP);
	CU_ASSERT_PTR_NULL(config->pools[1].check.path);
	CU_ASSERT_EQUAL(config->pools[2].check.type, GW_CONFIG_CHECK_NONE);
	CU_ASSERT_EQUAL(config->pools[3].check.timeout_ms, 500);
	gw_config_free(config);
}

static void a_check_without_a_port_probes_the_services(void)
{
	struct gw_config *config = expect_config(CONFIG_HEAD
		"defaults: {healthcheck: {type: tcp}}\n" CONFIG_POOL "services:\n"
		"  - {name: a, addresses: [203.0.113.9], protocol: tcp, ports: [8000-8099, 80],"
		" pool: web}\n"
		"  - {name: b, addresses: [203.0.113.10], protocol: tcp, ports: [443], pool: "
		"web}\n");

	CU_ASSERT_EQUAL(config->pools[0].check.port, 8000);
	gw_config_free(config);
}

/* Replay and lookup need no interface and no port to probe. */
static void offline_use_needs_less(void)
{
	static const char text[] = "version: 1\n"
				   "defaults: {healthcheck: {type: tcp}}\n"
				   "node: {source_ipv4: 10.82.0.11}\n" CONFIG_POOL;
	struct gw_config *config = NULL;
	struct gw_config_errors errors = {0};

	CU_ASSERT_EQUAL(gw_config_load_string("t", text, strlen(text), 0, &config, &errors), 0);
	gw_config_free(config);
	gw_config_errors_free(&errors);
	config = NULL;
	CU_ASSERT_NOT_EQUAL(
		gw_config_load_string("t", text, strlen(text), GW_CONFIG_DAEMON, &config, &errors),
		0);
	CU_ASSERT_EQUAL(errors.count, 2);
	gw_config_errors_free(&errors);
}

/* JSON is YAML, so what a dump says must load to what it says. */
static void a_dump_loads_to_the_same_dump(void)
{
	struct gw_config *first = expect_config(sample), *second;
	json_t *before = gw_config_dump(first), *after;
	char *text = json_dumps(before, JSON_INDENT(1));

	CU_ASSERT_PTR_NOT_NULL_FATAL(text);
	second = expect_config(text);
	after = gw_config_dump(second);
	CU_ASSERT(json_equal(before, after));
	json_decref(before);
	json_decref(after);
	free(text);
	gw_config_free(first);
	gw_config_free(second);
}

static void places_are_kept(void)
{
	struct gw_config *config = expect_config(sample);

	CU_ASSERT_EQUAL(config->pools[0].place.line, 14);
	CU_ASSERT_EQUAL(config->pools[0].table_size_place.line, 16);
	CU_ASSERT_EQUAL(config->pools[0].backends[0].place.line, 22);
	CU_ASSERT_STRING_EQUAL(config->pools[0].backends[0].place.file, "test.yaml");
	gw_config_free(config);
}

static const struct gw_test tests[] = {
	GW_TEST(the_documented_sample_has_its_values),
	GW_TEST(what_is_not_said_has_defaults),
	GW_TEST(member_keys_are_the_key_or_the_address_in_rfc_5952_text),
	GW_TEST(names_find_what_they_name),
	GW_TEST(a_pools_check_takes_from_the_defaults_key_by_key),
	GW_TEST(a_check_without_a_port_probes_the_services),
	GW_TEST(offline_use_needs_less),
	GW_TEST(a_dump_loads_to_the_same_dump),
	GW_TEST(places_are_kept),
};

GW_SUITE("config_model", tests)
