/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a worker keeps for longer than a burst, so that a packet touches few cache lines: how
 * packets leave to a backend, which service and pool a port leads to, and counters of services in
 * one word. Whatever these are made of may change between two packets, and the second one must show
 * it.
 */
#include "abi/path_mtu.h"
#include "dataplane/departure.h"
#include "dataplane/service_seen.h"
#include "dataplane/service_traffic.h"
#include "dp_harness.h"
#include "frames.h"
#include "suite.h"

#include <pthread.h>
#include <string.h>

#define SIZE 1021

/* Service 0: TCP 80 on 203.0.113.10. Pool 0 is backend 0 (10.82.0.101), pool 1 backend 1 (.102). */
static struct gw_service service;
static struct gw_backend backends[2];
static struct image_spec spec;

static struct gw_engine *start(void)
{
	static const uint32_t members[] = {0, 1};
	static const struct image_pool pools[] = {
		{.id = 0, .table_size = SIZE, .members = members, .member_count = 1, .digest = 1},
		{.id = 1,
			.table_size = SIZE,
			.members = members + 1,
			.member_count = 1,
			.digest = 2}};
	static const struct gw_span span = {80, 80, 0};
	static struct gw_next_hop hops[2];
	static struct gw_vip vip;
	struct gw_engine *engine = harness_start(1024, 1);

	vip = image_vip("203.0.113.10", 128);
	vip.tcp = (struct gw_span_run){0, 1};
	service = (struct gw_service){.pool = 0};
	backends[0] = image_backend(0, 0, "10.82.0.11", "10.82.0.101");
	backends[1] = image_backend(1, 1, "10.82.0.11", "10.82.0.102");
	hops[0] = image_next_hop("10.82.0.101");
	hops[1] = image_next_hop("10.82.0.102");
	spec = (struct image_spec){.version = spec.version + 1,
		.pools = pools,
		.pool_count = 2,
		.services = &service,
		.service_count = 1,
		.vips = &vip,
		.vip_count = 1,
		.spans = &span,
		.span_count = 1,
		.backends = backends,
		.backend_count = 2,
		.next_hops = hops,
		.next_hop_count = 2};
	harness_load(engine, &spec);
	return engine;
}

static void reload(struct gw_engine *engine)
{
	spec.version++;
	harness_load(engine, &spec);
}

/* An ACK with DF, of 45 bytes, of the one flow. */
static struct gw_result run(struct gw_engine *engine, uint8_t out[2048])
{
	struct frame frame = frame_v4();
	size_t length;

	frame.bytes[FRAME_ETH + 6] = 0x40;
	frame.bytes[FRAME_ETH + 20 + 13] = 0x10;
	return harness_run(
		engine, harness_frame(engine, frame.bytes, frame.length, 1), out, &length);
}

static uint32_t next_hop(const struct gw_engine *engine)
{
	return engine->generation->view[0]->backend[0].next_hop;
}

static void a_next_hop_that_moves_is_followed_at_once(void)
{
	struct gw_engine *engine = start();
	struct gw_link link = engine->hops.live[next_hop(engine)].link;
	uint8_t out[2048];

	CU_ASSERT_EQUAL(run(engine, out).verdict, GW_VERDICT_TX);
	CU_ASSERT_EQUAL(memcmp(out, "\x02\0\0\0\0\x01\x02\0\0\0\0\x02\x08\0", 14), 0);
	link.destination_mac[5] = 0x77;
	gw_next_hop_store(&engine->hops, next_hop(engine), &link);
	CU_ASSERT_EQUAL(run(engine, out).verdict, GW_VERDICT_TX);
	CU_ASSERT_EQUAL(memcmp(out, "\x02\0\0\0\0\x77\x02\0\0\0\0\x02\x08\0", 14), 0);
	link.source_mac[5] = 0x78;
	gw_next_hop_store(&engine->hops, next_hop(engine), &link);
	CU_ASSERT_EQUAL(run(engine, out).verdict, GW_VERDICT_TX);
	CU_ASSERT_EQUAL(memcmp(out, "\x02\0\0\0\0\x77\x02\0\0\0\0\x78\x08\0", 14), 0);
	gw_next_hop_store(&engine->hops, next_hop(engine), &(struct gw_link){});
	CU_ASSERT_EQUAL(run(engine, out).reason, GW_DROP_NO_NEIGHBOUR);
	harness_stop(engine);
}

/* 45 bytes and 20 of the outer header are 65: more than 64 is answered. */
static void what_is_learnt_of_a_path_counts_at_once(void)
{
	struct gw_engine *engine = start();
	uint64_t word = gw_path_mtu_word(64, engine->worker[0]->now + 100);

	CU_ASSERT_EQUAL(run(engine, NULL).verdict, GW_VERDICT_TX);
	gw_next_hop_learn(&engine->hops, next_hop(engine), word);
	CU_ASSERT_EQUAL(run(engine, NULL).verdict, GW_VERDICT_REPLY);
	gw_next_hop_learn(&engine->hops, next_hop(engine), 0);
	CU_ASSERT_EQUAL(run(engine, NULL).verdict, GW_VERDICT_TX);
	harness_stop(engine);
}

static void a_backends_new_record_is_in_force_with_its_snapshot(void)
{
	struct gw_engine *engine = start();
	uint8_t out[2048];

	CU_ASSERT_EQUAL(run(engine, out).flow, GW_TRACE_NEW);
	CU_ASSERT_EQUAL(memcmp(out + 26, "\x0a\x52\x00\x0b\x0a\x52\x00\x65", 8), 0);
	backends[0].outer_source = image_address("10.82.0.12");
	reload(engine);
	CU_ASSERT_EQUAL(run(engine, out).flow, GW_TRACE_HIT);
	CU_ASSERT_EQUAL(memcmp(out + 26, "\x0a\x52\x00\x0c\x0a\x52\x00\x65", 8), 0);
	backends[0].mtu = 64;
	reload(engine);
	CU_ASSERT_EQUAL(run(engine, NULL).verdict, GW_VERDICT_REPLY);
	backends[0].mtu = 0;
	backends[0].state = GW_BACKEND_DISABLED;
	reload(engine);
	CU_ASSERT_EQUAL(run(engine, NULL).flow, GW_TRACE_MOVED);
	harness_stop(engine);
}

static void a_backends_counters_outlive_what_changes(void)
{
	struct gw_engine *engine = start();
	struct gw_worker *worker = engine->worker[0];
	uint32_t epoch;

	run(engine, NULL);
	epoch = worker->departure_epoch;
	reload(engine); /* the same backends: nothing is made anew */
	run(engine, NULL);
	CU_ASSERT_EQUAL(worker->departure_epoch, epoch);
	backends[0].gue_port = GW_HTONS(6081);
	reload(engine);
	run(engine, NULL);
	CU_ASSERT_NOT_EQUAL(worker->departure_epoch, epoch);
	CU_ASSERT_EQUAL(worker->departure[0].packets, 3);
	CU_ASSERT_EQUAL(worker->departure[0].bytes, 3 * 45);
	CU_ASSERT_EQUAL(worker->departure[0].flows_new, 1);
	harness_stop(engine);
}

static void a_service_that_gets_another_pool_moves_its_flows(void)
{
	struct gw_engine *engine = start();
	struct gw_result result = run(engine, NULL);

	CU_ASSERT_EQUAL(result.backend, 0);
	CU_ASSERT_EQUAL(run(engine, NULL).flow, GW_TRACE_HIT);
	service.pool = 1;
	reload(engine);
	result = run(engine, NULL);
	CU_ASSERT_EQUAL(result.flow, GW_TRACE_MOVED);
	CU_ASSERT_EQUAL(result.backend, 1);
	service.flags = GW_SERVICE_UNTRACKED;
	reload(engine);
	CU_ASSERT_EQUAL(run(engine, NULL).flow, GW_TRACE_TABLE_ONLY);
	harness_stop(engine);
}

static void a_full_word_of_a_services_counters_is_settled(void)
{
	struct gw_engine *engine = start();
	struct gw_worker *worker = engine->worker[0];
	struct gw_traffic seen;

	worker->service_traffic[0] = (struct gw_traffic){.packets = 7, .bytes = 70};
	worker->service_brief[0] = 0x7ffffeull << 40 | 0x1000000000;
	run(engine, NULL);
	CU_ASSERT_EQUAL(worker->service_traffic[0].packets, 7);
	seen = gw_service_traffic_read(worker, 0);
	CU_ASSERT_EQUAL(seen.packets, 7 + 0x7fffff);
	CU_ASSERT_EQUAL(seen.bytes, 70 + 0x1000000000 + 45);
	run(engine, NULL);
	CU_ASSERT_EQUAL(worker->service_brief[0], 0);
	CU_ASSERT_EQUAL(worker->service_traffic[0].packets, 7 + 0x800000);
	seen = gw_service_traffic_read(worker, 0);
	CU_ASSERT_EQUAL(seen.packets, 7 + 0x800000);
	CU_ASSERT_EQUAL(seen.bytes, 70 + 0x1000000000 + 90);
	CU_ASSERT_EQUAL(seen.flows_new, 1);
	harness_stop(engine);
}

#define COUNTED 3000000

/* A worker's thread that settles all the time. */
static void *count(void *arg)
{
	struct gw_worker *worker = arg;

	for (uint32_t i = 0; i < COUNTED; i++) {
		gw_service_count(worker, worker->service_brief, 0, 100);
		if (i % 3 == 0)
			gw_service_settle(worker, 0);
	}
	return NULL;
}

static void whoever_reads_while_a_worker_settles_sees_whole_packets(void)
{
	struct gw_engine *engine = start();
	struct gw_worker *worker = engine->worker[0];
	uint64_t last = 0, torn = 0, back = 0;
	struct gw_traffic seen = {};
	pthread_t thread;

	CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, count, worker), 0);
	while (seen.packets < COUNTED) {
		seen = gw_service_traffic_read(worker, 0);
		torn += seen.bytes != 100 * seen.packets;
		back += seen.packets < last;
		last = seen.packets;
	}
	pthread_join(thread, NULL);
	CU_ASSERT_EQUAL(torn, 0);
	CU_ASSERT_EQUAL(back, 0);
	CU_ASSERT_EQUAL(last, COUNTED);
	harness_stop(engine);
}

#define BUCKETS	   4096 /* the room that 10,000 ports get */
#define NEIGHBOURS 10000

/* How many of the services, on `addresses` addresses in a row, find their bucket full. */
static uint32_t crowded(uint32_t addresses)
{
	static uint8_t taken[BUCKETS];
	const struct gw_flow_secrets secrets = {};
	uint32_t full = 0;

	memset(taken, 0, sizeof(taken));
	for (uint32_t i = 0; i < NEIGHBOURS; i++) {
		struct gw_flow_key key = {.destination = image_address("203.0.0.0"),
			.destination_port = GW_HTONS((uint16_t)(443 + i / addresses)),
			.protocol = GW_PROTO_TCP};
		uint64_t word[GW_KEY_WORDS], name;

		key.destination.bytes[13] = (uint8_t)(i % addresses >> 16);
		key.destination.bytes[14] = (uint8_t)(i % addresses >> 8);
		key.destination.bytes[15] = (uint8_t)(i % addresses);
		memcpy(word, &key, sizeof(word));
		name = gw_service_name(&secrets, GW_IPV4, word);
		full += ++taken[gw_service_seen_place(name, 0, BUCKETS - 1)] > GW_SERVICE_SEEN_WAYS;
	}
	return full;
}

static void neighbouring_addresses_and_ports_crowd_no_bucket(void)
{
	for (uint32_t addresses = 1; addresses <= NEIGHBOURS; addresses *= 10)
		CU_ASSERT(crowded(addresses) < NEIGHBOURS / 25);
}

static const struct gw_test tests[] = {
	GW_TEST(a_next_hop_that_moves_is_followed_at_once),
	GW_TEST(what_is_learnt_of_a_path_counts_at_once),
	GW_TEST(a_backends_new_record_is_in_force_with_its_snapshot),
	GW_TEST(a_backends_counters_outlive_what_changes),
	GW_TEST(a_service_that_gets_another_pool_moves_its_flows),
	GW_TEST(a_full_word_of_a_services_counters_is_settled),
	GW_TEST(whoever_reads_while_a_worker_settles_sees_whole_packets),
	GW_TEST(neighbouring_addresses_and_ports_crowd_no_bucket),
};

GW_SUITE("dp_departure", tests)
