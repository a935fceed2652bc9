/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tables and digests against tests/unit/reference/maglev.py, which is written from hashing.md and
 * design.md alone; spans by hand.
 */
#include "control/builder.h"

#include "control/state.h"
#include "control_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#define DIGEST_WEB    "29fa1076eb4612f82463986af5a0f26b" /* 65537, .101 .102 .103 */
#define DIGEST_WEB_13 "ed95da4f91347e7772fdc2c150b8f476" /* 65537, .101 .103 */

static const char *digest_of(const struct gw_build *build, const char *pool)
{
	static char text[33];

	return gw_digest_format(&gw_build_pool_find(build, pool)->digest, text);
}

static uint32_t slots_of(const struct gw_build *build, const char *pool, const char *name)
{
	const struct gw_build_pool *found = gw_build_pool_find(build, pool);

	for (size_t i = 0; i < found->backend_count; i++)
		if (!strcmp(found->backends[i].name, name))
			return found->backends[i].slots;
	return GW_NONE;
}

static void equal_members_give_the_references_table(void)
{
	struct gw_build *build = fixture_build(FIXTURE_WEB);

	CU_ASSERT_STRING_EQUAL(digest_of(build, "web"), DIGEST_WEB);
	CU_ASSERT_EQUAL(slots_of(build, "web", "b1"), 21846);
	CU_ASSERT_EQUAL(slots_of(build, "web", "b2"), 21846);
	CU_ASSERT_EQUAL(slots_of(build, "web", "b3"), 21845);
	gw_build_free(build);
}

static void weights_and_keys_give_the_references_tables(void)
{
	struct gw_build *build = fixture_build(
		FIXTURE_NODE "pools:\n"
			     "  - name: weights\n"
			     "    table_size: 1021\n"
			     "    backends:\n"
			     "      - {name: b1, address: 10.82.0.101, weight: 3}\n"
			     "      - {name: b2, address: 10.82.0.102, weight: 1}\n"
			     "      - {name: b3, address: 10.82.0.103, weight: 2}\n"
			     "  - name: keys\n"
			     "    table_size: 1021\n"
			     "    backends:\n"
			     "      - {name: z, address: \"fd82::101\"}\n"
			     "      - {name: y, address: 10.82.0.7}\n"
			     "      - {name: x, address: 10.82.0.8, key: b, weight: 5}\n"
			     "  - name: envoy\n"
			     "    table_size: 7\n"
			     "    backends:\n"
			     "      - {name: a, address: 10.82.1.1, key: \"127.0.0.1:90\"}\n"
			     "      - {name: b, address: 10.82.1.2, key: \"127.0.0.1:91\"}\n"
			     "      - {name: c, address: 10.82.1.3, key: \"127.0.0.1:92\"}\n"
			     "      - {name: d, address: 10.82.1.4, key: \"127.0.0.1:93\"}\n"
			     "      - {name: e, address: 10.82.1.5, key: \"127.0.0.1:94\"}\n"
			     "      - {name: f, address: 10.82.1.6, key: \"127.0.0.1:95\"}\n");
	static const uint16_t envoy[] = {2, 4, 0, 1, 5, 0, 3}; /* hashing.md */

	CU_ASSERT_STRING_EQUAL(digest_of(build, "weights"), "e88e2911b35ea53c3f5c0255a937a96c");
	CU_ASSERT_EQUAL(slots_of(build, "weights", "b1"), 510);
	CU_ASSERT_EQUAL(slots_of(build, "weights", "b2"), 171);
	CU_ASSERT_EQUAL(slots_of(build, "weights", "b3"), 340);
	CU_ASSERT_STRING_EQUAL(digest_of(build, "keys"), "bd3903357ec402485fda00619e0ce401");
	CU_ASSERT_EQUAL(slots_of(build, "keys", "x"), 729);
	CU_ASSERT_EQUAL(slots_of(build, "keys", "y"), 146);
	CU_ASSERT_STRING_EQUAL(digest_of(build, "envoy"), "8fabfbf816368b2df66dfe393698b98b");
	CU_ASSERT_EQUAL(memcmp(gw_build_pool_find(build, "envoy")->slots, envoy, sizeof(envoy)), 0);
	gw_build_free(build);
}

static void neither_names_nor_order_matter_to_a_table(void)
{
	struct gw_build *build = fixture_build(
		FIXTURE_NODE "pools:\n"
			     "  - name: other\n"
			     "    backends:\n"
			     "      - {name: zulu, address: 10.82.0.103}\n"
			     "      - {name: able, address: 10.82.0.102}\n"
			     "      - {name: mike, address: 10.82.0.101}\n"
			     "      - {name: gone, address: 10.82.0.104, state: drain}\n"
			     "      - {name: zero, address: 10.82.0.105, weight: 0}\n");

	CU_ASSERT_STRING_EQUAL(digest_of(build, "other"), DIGEST_WEB);
	gw_build_free(build);
}

/* The image as a datapath reads it. */
static void image_says_what_the_file_says(void)
{
	struct gw_build *build = fixture_build(FIXTURE_WEB);
	const struct gw_snapshot_header *image = build->snapshot->data;
	const struct gw_pool *pool = fixture_section(build, &image->pools);
	const struct gw_service *service = fixture_section(build, &image->services);
	const struct gw_vip *vip = fixture_section(build, &image->vips);
	const struct gw_span *span = fixture_section(build, &image->spans);
	const struct gw_backend *backend = fixture_section(build, &image->backends);
	const uint32_t *member = fixture_section(build, &image->members);
	const struct gw_next_hop *hop = fixture_section(build, &image->next_hops);
	static const uint8_t b1[16] = {[10] = 0xff, [11] = 0xff, 10, 82, 0, 101};
	static const uint8_t source[16] = {[10] = 0xff, [11] = 0xff, 10, 82, 0, 11};
	static const uint8_t address[16] = {[10] = 0xff, [11] = 0xff, 203, 0, 113, 10};
	uint32_t id;

	CU_ASSERT_EQUAL(image->magic, GW_SNAPSHOT_MAGIC);
	CU_ASSERT_EQUAL(image->version, 1);
	CU_ASSERT_EQUAL(image->total_size, build->snapshot->size);
	CU_ASSERT_EQUAL(image->timeouts.seconds[GW_CLASS_TCP][GW_FLOW_ESTABLISHED], 900);
	CU_ASSERT_EQUAL(image->timeouts.seconds[GW_CLASS_TCP][GW_FLOW_NEW], 10);
	CU_ASSERT_EQUAL(image->timeouts.seconds[GW_CLASS_TCP][GW_FLOW_CLOSING], 60);
	CU_ASSERT_EQUAL(image->timeouts.seconds[GW_CLASS_SCTP][GW_FLOW_NEW], 300);
	CU_ASSERT_EQUAL(image->timeouts.seconds[GW_CLASS_UDP][GW_FLOW_FREE], 0);
	CU_ASSERT_EQUAL_FATAL(image->pools.count, 1);
	CU_ASSERT_EQUAL(pool->table_size, 65537);
	CU_ASSERT_EQUAL(pool->member_count, 3);
	CU_ASSERT_EQUAL(pool->table_version, 1);
	CU_ASSERT_EQUAL_FATAL(image->services.count, 1);
	CU_ASSERT_EQUAL(service->pool, pool->id);
	CU_ASSERT_EQUAL_FATAL(image->vips.count, 2);
	CU_ASSERT_EQUAL(memcmp(&vip[0].address, address, 16), 0);
	CU_ASSERT_EQUAL(vip[0].prefix_length, 128);
	CU_ASSERT_EQUAL(vip[0].any_service, GW_NONE);
	CU_ASSERT_EQUAL(vip[0].flags, 0);
	CU_ASSERT_EQUAL_FATAL(vip[0].tcp.count, 1);
	CU_ASSERT_EQUAL(span[vip[0].tcp.first].first, 80);
	CU_ASSERT_EQUAL(span[vip[0].tcp.first].last, 80);
	CU_ASSERT_EQUAL(vip[0].udp.count, 0);
	CU_ASSERT_EQUAL_FATAL(image->backends.count, 4); /* 0 is nobody */
	CU_ASSERT_EQUAL(backend[0].state, GW_BACKEND_FREE);
	id = member[pool->member_first];
	CU_ASSERT_EQUAL(backend[id].state, GW_BACKEND_ACTIVE);
	CU_ASSERT_EQUAL(backend[id].family, GW_IPV4);
	CU_ASSERT_EQUAL(memcmp(&backend[id].outer_destination, b1, 16), 0);
	CU_ASSERT_EQUAL(memcmp(&backend[id].outer_source, source, 16), 0);
	CU_ASSERT_EQUAL_FATAL(image->next_hops.count, 3);
	CU_ASSERT_EQUAL(memcmp(&hop[backend[id].next_hop].address, b1, 16), 0);
	CU_ASSERT_EQUAL(hop[0].link.flags, 0);
	gw_build_free(build);
}

/* Two pools; the second image leaves the first pool's table out. */
static void image_holds_the_tables_that_are_wanted(void)
{
	struct gw_build *build = fixture_build(FIXTURE_NODE
		"pools:\n"
		"  - {name: p, table_size: 251, backends: [{name: a, address: 10.82.0.101}]}\n"
		"  - {name: q, table_size: 257, backends: [{name: a, address: 10.82.0.101},"
		" {name: b, address: 10.82.0.102}]}\n");
	const struct gw_snapshot *snapshot = build->snapshot;
	const bool wanted[] = {false, true};
	const size_t p_bytes = 512, q_bytes = 576; /* 251 x 2 and 257 x 2, up to cache lines */
	size_t whole = gw_snapshot_image_size(snapshot, NULL);
	size_t thin = gw_snapshot_image_size(snapshot, wanted);
	struct gw_snapshot_header *image = calloc(1, whole);
	const struct gw_pool *pool;

	CU_ASSERT_EQUAL(whole, snapshot->size + p_bytes + q_bytes);
	CU_ASSERT_EQUAL(thin, snapshot->size + q_bytes);
	gw_snapshot_image_write(snapshot, NULL, image);
	pool = (const void *)((const char *)image + image->pools.offset);
	CU_ASSERT_EQUAL(image->total_size, whole);
	CU_ASSERT_EQUAL(image->tables.count, p_bytes + q_bytes);
	CU_ASSERT_EQUAL(pool[0].table_offset, image->tables.offset);
	CU_ASSERT_EQUAL(memcmp((const char *)image + pool[1].table_offset, build->pools[1].slots,
				257 * sizeof(uint16_t)),
		0);
	gw_snapshot_image_write(snapshot, wanted, image);
	CU_ASSERT_EQUAL(image->total_size, thin);
	CU_ASSERT_EQUAL(pool[0].table_offset, 0);
	CU_ASSERT_EQUAL(pool[1].table_offset, image->tables.offset);
	CU_ASSERT_EQUAL(memcmp((const char *)image + pool[1].table_offset, build->pools[1].slots,
				257 * sizeof(uint16_t)),
		0);
	free(image);
	gw_build_free(build);
}

static void backends_at_one_address_share_a_next_hop_and_hints_fill_it(void)
{
	struct gw_config *config = fixture_config(
		FIXTURE_NODE "pools:\n"
			     "  - {name: p, backends: [{name: a, address: 10.82.0.101}]}\n"
			     "  - {name: q, backends: [{name: a, address: 10.82.0.101},"
			     " {name: b, address: \"fd82::5\"}]}\n");
	const struct gw_snapshot_header *image;
	const struct gw_next_hop *hop;
	const struct gw_backend *backend;
	char error[GW_BUILD_ERROR];
	struct gw_build *build;
	static const uint8_t mac[6] = {2, 0, 0, 0, 0, 1};

	config->pools[0].mtu = 1400;
	CU_ASSERT_EQUAL_FATAL(
		gw_build_offline(config, NULL, 0, gw_link_hint_fixed, &build, error), 0);
	image = build->snapshot->data;
	hop = fixture_section(build, &image->next_hops);
	backend = fixture_section(build, &image->backends);
	CU_ASSERT_EQUAL(image->next_hops.count, 2);
	CU_ASSERT_EQUAL(memcmp(hop[1].link.destination_mac, mac, 6), 0);
	CU_ASSERT_EQUAL(hop[1].link.flags, GW_LINK_RESOLVED);
	CU_ASSERT_EQUAL(backend[1].mtu, 1400);
	CU_ASSERT_EQUAL(memcmp(&backend[1].link, &hop[backend[1].next_hop].link, 16), 0);
	CU_ASSERT_EQUAL(backend[1].next_hop, backend[2].next_hop);
	CU_ASSERT_EQUAL(backend[3].family, GW_IPV6);
	gw_build_free(build);
	gw_config_free(config);
}

/* ---- spans -------------------------------------------------------------------------------- */

#define TWO_POOLS                                                                                  \
	FIXTURE_NODE                                                                               \
	"pools:\n"                                                                                 \
	"  - {name: p, backends: [{name: a, address: 10.82.0.101}]}\n"                             \
	"services:\n"

/* The spans of the build's first vip as "80-80:web 81-99:range ...". */
static void spans_text(
	const struct gw_build *build, struct gw_span_run run, char *text, size_t size)
{
	const struct gw_span *span = fixture_section(build, &build->snapshot->data->spans);
	size_t used = 0;

	text[0] = '\0';
	for (uint32_t i = run.first; i < run.first + run.count; i++)
		used += (size_t)snprintf(text + used, size - used, "%s%u-%u:%s",
			i > run.first ? " " : "", span[i].first, span[i].last,
			build->service_by_id[span[i].service]->name);
}

static void exact_port_wins_over_range_and_range_over_any(void)
{
	struct gw_build *build = fixture_build(TWO_POOLS
		"  - {name: any, addresses: [203.0.113.1], protocol: tcp, ports: [any], pool: p}\n"
		"  - {name: wide, addresses: [203.0.113.1], protocol: tcp, ports: [8000-8999],"
		" pool: p}\n"
		"  - {name: narrow, addresses: [203.0.113.1], protocol: tcp, ports: [8100-8199],"
		" pool: p}\n"
		"  - {name: exact, addresses: [203.0.113.1], protocol: tcp, ports: [8150, 80],"
		" pool: p}\n"
		"  - {name: all, addresses: [203.0.113.1], protocol: any, ports: [any], pool: p}\n"
		"  - {name: dns, addresses: [203.0.113.1], protocol: udp, ports: [53], pool: p}\n");
	const struct gw_vip *vip = fixture_section(build, &build->snapshot->data->vips);
	char text[512];

	CU_ASSERT_EQUAL_FATAL(build->snapshot->data->vips.count, 1);
	spans_text(build, vip->tcp, text, sizeof(text));
	CU_ASSERT_STRING_EQUAL(text,
		"0-79:any 80-80:exact 81-7999:any 8000-8099:wide 8100-8149:narrow 8150-8150:exact "
		"8151-8199:narrow 8200-8999:wide 9000-65535:any");
	spans_text(build, vip->udp, text, sizeof(text));
	CU_ASSERT_STRING_EQUAL(text, "53-53:dns");
	CU_ASSERT_STRING_EQUAL(build->service_by_id[vip->any_service]->name, "all");
	gw_build_free(build);
}

static void neighbouring_spans_of_one_service_become_one(void)
{
	struct gw_build *build =
		fixture_build(TWO_POOLS "  - {name: s, addresses: [203.0.113.1], protocol: tcp,"
					" ports: [80, 81, 82-90, 100, 65535], pool: p}\n");
	const struct gw_vip *vip = fixture_section(build, &build->snapshot->data->vips);
	char text[512];

	spans_text(build, vip->tcp, text, sizeof(text));
	CU_ASSERT_STRING_EQUAL(text, "80-90:s 100-100:s 65535-65535:s");
	gw_build_free(build);
}

static void addresses_come_longest_prefix_first_and_once(void)
{
	struct gw_build *build = fixture_build(TWO_POOLS
		"  - {name: net, addresses: [203.0.113.0/24], protocol: tcp, ports: [80], pool: p,"
		" no_service: host}\n"
		"  - {name: web, addresses: [203.0.113.10], protocol: tcp, ports: [80], pool: p}\n"
		"  - {name: tls, addresses: [203.0.113.10], protocol: tcp, ports: [443], pool: "
		"p}\n");
	const struct gw_vip *vip = fixture_section(build, &build->snapshot->data->vips);
	char text[512];

	CU_ASSERT_EQUAL_FATAL(build->snapshot->data->vips.count, 2);
	CU_ASSERT_EQUAL(vip[0].prefix_length, 128);
	CU_ASSERT_EQUAL(vip[0].flags, 0);
	spans_text(build, vip[0].tcp, text, sizeof(text));
	CU_ASSERT_STRING_EQUAL(text, "80-80:web 443-443:tls");
	CU_ASSERT_EQUAL(vip[1].prefix_length, 120);
	CU_ASSERT_EQUAL(vip[1].flags, GW_VIP_NO_SERVICE_HOST);
	gw_build_free(build);
}

/* ---- what changes, and only that ---------------------------------------------------------- */

#define TEN_POOLS_HEAD FIXTURE_NODE "pools:\n"

static struct gw_config *ten_pools(const char *weight_of_p3)
{
	char text[4096] = TEN_POOLS_HEAD;
	size_t used = strlen(text);

	for (int i = 0; i < 10; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used,
			"  - {name: p%d, table_size: 1021, backends: [{name: a, address: 10.0.%d.1,"
			" weight: %s}, {name: b, address: 10.0.%d.2}]}\n",
			i, i, i == 3 ? weight_of_p3 : "1", i);
	return fixture_config(text);
}

static struct gw_build *make(const struct gw_config *config, struct gw_ids *ids,
	const struct gw_runtime *runtime, const struct gw_build *previous,
	const struct gw_state *state, uint64_t version)
{
	struct gw_build_input input = {.config = config,
		.ids = ids,
		.runtime = runtime,
		.previous = previous,
		.state = state,
		.version = version,
		.now_ms = 1000};
	char error[GW_BUILD_ERROR] = "";
	struct gw_build *build = NULL;

	CU_ASSERT_EQUAL(gw_ids_assign(ids, config, 1000, NULL), 0);
	CU_ASSERT_EQUAL(gw_build_make(&input, &build, error), 0);
	CU_ASSERT_STRING_EQUAL(error, "");
	CU_ASSERT_PTR_NOT_NULL_FATAL(build);
	return build;
}

static void only_pools_that_changed_are_rebuilt(void)
{
	struct gw_config *before = ten_pools("1"), *after = ten_pools("2");
	struct gw_ids *ids = gw_ids_new();
	struct gw_build *first = make(before, ids, NULL, NULL, NULL, 1);
	struct gw_build *same = make(before, ids, NULL, first, NULL, 2);
	struct gw_build *changed = make(after, ids, NULL, same, NULL, 3);
	struct gw_build *fresh = make(after, ids, NULL, NULL, NULL, 4);

	CU_ASSERT_EQUAL(first->rebuilt_count, 10);
	CU_ASSERT_EQUAL(same->rebuilt_count, 0);
	CU_ASSERT_EQUAL(same->pools[3].table_version, 1);
	CU_ASSERT_EQUAL(changed->rebuilt_count, 1);
	CU_ASSERT_TRUE(changed->pools[3].rebuilt);
	CU_ASSERT_EQUAL(changed->pools[3].table_version, 3);
	CU_ASSERT_EQUAL(changed->pools[4].table_version, 1);
	CU_ASSERT_PTR_EQUAL(changed->pools[4].table, first->pools[4].table);
	CU_ASSERT_PTR_NOT_EQUAL(changed->pools[3].table, first->pools[3].table);
	for (int i = 0; i < 10; i++) {
		CU_ASSERT_EQUAL(
			memcmp(changed->pools[i].slots, fresh->pools[i].slots, 2 * 1021), 0);
		CU_ASSERT_EQUAL(memcmp(&changed->pools[i].digest, &fresh->pools[i].digest, 16), 0);
		CU_ASSERT_EQUAL(
			changed->pools[i].backends[0].slots, fresh->pools[i].backends[0].slots);
	}
	gw_build_free(first);
	gw_build_free(same);
	gw_build_free(changed);
	gw_build_free(fresh);
	gw_ids_free(ids);
	gw_config_free(before);
	gw_config_free(after);
}

static void health_change_rebuilds_its_pool_alone(void)
{
	struct gw_config *config =
		fixture_config(FIXTURE_WEB "  - {name: two, addresses: [203.0.113.11], protocol: "
					   "tcp, ports: [80], pool: web}\n");
	struct gw_runtime *runtime = gw_runtime_new();
	struct gw_ids *ids = gw_ids_new();
	struct gw_build *first, *second, *third;
	const struct gw_backend *backend;
	char digest[33];

	CU_ASSERT_EQUAL(gw_runtime_apply(runtime, config, 0, NULL, NULL), 0);
	first = make(config, ids, runtime, NULL, NULL, 5);
	gw_runtime_set_health(runtime, "web", "b2", GW_HEALTH_DOWN, "refused", 10);
	second = make(config, ids, runtime, first, NULL, 6);
	CU_ASSERT_EQUAL(second->rebuilt_count, 1);
	CU_ASSERT_STRING_EQUAL(gw_digest_format(&second->pools[0].digest, digest), DIGEST_WEB_13);
	CU_ASSERT_EQUAL(slots_of(second, "web", "b1"), 32769);
	CU_ASSERT_EQUAL(slots_of(second, "web", "b2"), 0);
	backend = fixture_section(second, &second->snapshot->data->backends);
	CU_ASSERT_EQUAL(backend[second->pools[0].backends[1].id].state, GW_BACKEND_DOWN);
	gw_runtime_set_health(runtime, "web", "b2", GW_HEALTH_UP, NULL, 20);
	third = make(config, ids, runtime, second, NULL, 7);
	CU_ASSERT_STRING_EQUAL(gw_digest_format(&third->pools[0].digest, digest), DIGEST_WEB);
	CU_ASSERT_EQUAL(third->pools[0].table_version, 7);
	gw_build_free(first);
	gw_build_free(second);
	gw_build_free(third);
	gw_ids_free(ids);
	gw_runtime_free(runtime);
	gw_config_free(config);
}

static void pool_without_members_has_no_table(void)
{
	struct gw_config *config = fixture_config(FIXTURE_WEB);
	const char *const down[] = {"b1", "web/b2", "b3"}, *const unknown[] = {"b4"};
	char error[GW_BUILD_ERROR];
	const struct gw_pool *pool;
	struct gw_build *build = NULL;

	CU_ASSERT_EQUAL_FATAL(gw_build_offline(config, down, 3, NULL, &build, error), 0);
	pool = fixture_section(build, &build->snapshot->data->pools);
	CU_ASSERT_EQUAL(pool->member_count, 0);
	CU_ASSERT_EQUAL(pool->table_offset, 0);
	CU_ASSERT_EQUAL(build->snapshot->data->tables.count, 0);
	CU_ASSERT_EQUAL(build->snapshot->data->tables.offset, 0);
	gw_build_free(build);
	build = NULL;
	CU_ASSERT_EQUAL(gw_build_offline(config, unknown, 1, NULL, &build, error), -ENOENT);
	CU_ASSERT_STRING_EQUAL(error, "no backend is called \"b4\"");
	CU_ASSERT_PTR_NULL(build);
	gw_config_free(config);
}

static void table_version_survives_a_restart(void)
{
	struct gw_config *config = ten_pools("1"), *other = ten_pools("2");
	char warning[GW_STATE_WARNING];
	struct gw_state *state;
	struct gw_build *first, *again;

	CU_ASSERT_EQUAL_FATAL(gw_state_open(NULL, &state, warning), 0);
	first = make(config, gw_state_ids(state), NULL, NULL, state, 41);
	CU_ASSERT_EQUAL(gw_state_keep_tables(state, first), 0);
	again = make(other, gw_state_ids(state), NULL, NULL, state, 142);
	CU_ASSERT_EQUAL(again->pools[0].table_version, 41);
	CU_ASSERT_EQUAL(again->pools[3].table_version, 142);
	gw_build_free(first);
	gw_build_free(again);
	gw_state_free(state);
	gw_config_free(config);
	gw_config_free(other);
}

static const struct gw_test tests[] = {
	GW_TEST(equal_members_give_the_references_table),
	GW_TEST(weights_and_keys_give_the_references_tables),
	GW_TEST(neither_names_nor_order_matter_to_a_table),
	GW_TEST(image_says_what_the_file_says),
	GW_TEST(image_holds_the_tables_that_are_wanted),
	GW_TEST(backends_at_one_address_share_a_next_hop_and_hints_fill_it),
	GW_TEST(exact_port_wins_over_range_and_range_over_any),
	GW_TEST(neighbouring_spans_of_one_service_become_one),
	GW_TEST(addresses_come_longest_prefix_first_and_once),
	GW_TEST(only_pools_that_changed_are_rebuilt),
	GW_TEST(health_change_rebuilds_its_pool_alone),
	GW_TEST(pool_without_members_has_no_table),
	GW_TEST(table_version_survives_a_restart),
};

GW_SUITE("builder", tests)
