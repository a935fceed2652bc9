/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Services that track no flows, through the real pipeline and its snapshots: port 80 tracks, port
 * 53 does not, and both have the same pool.
 */
#include "dp_harness.h"
#include "frames.h"
#include "suite.h"

#include <string.h>

#define BACKENDS 3
#define SIZE	 251u
#define WEB	 80
#define DNS	 53

static struct gw_backend backends[BACKENDS];
static uint16_t slots[SIZE];
static uint32_t members[BACKENDS];
static uint32_t member_count;
static struct gw_service services[2];
static uint64_t version;

static void load(struct gw_engine *engine)
{
	static const struct gw_span spans[] = {{DNS, DNS, 1}, {WEB, WEB, 0}};
	struct gw_vip vip = image_vip("203.0.113.10", 128);
	struct gw_next_hop hop = image_next_hop("10.82.0.101");
	struct image_pool pool = {.id = 0,
		.table_size = SIZE,
		.members = members,
		.member_count = member_count,
		.slots = slots,
		.digest = (uint8_t)version};
	struct image_spec spec = {.version = ++version,
		.pools = &pool,
		.pool_count = 1,
		.services = services,
		.service_count = 2,
		.vips = &vip,
		.vip_count = 1,
		.spans = spans,
		.span_count = 2,
		.backends = backends,
		.backend_count = BACKENDS,
		.next_hops = &hop,
		.next_hop_count = 1};

	vip.tcp = vip.udp = (struct gw_span_run){0, 2};
	harness_load(engine, &spec);
}

static void point_table(struct gw_engine *engine, uint32_t backend)
{
	members[0] = backend;
	member_count = 1;
	memset(slots, 0, sizeof(slots));
	load(engine);
}

static struct gw_engine *start(void)
{
	struct gw_engine *engine = harness_start(1024, 1);

	for (uint32_t i = 0; i < BACKENDS; i++)
		backends[i] = image_backend(0, 0, "10.82.0.11", "10.82.0.101");
	services[0] = (struct gw_service){.pool = 0};
	services[1] = (struct gw_service){.pool = 0, .flags = GW_SERVICE_UNTRACKED};
	version = 0;
	point_table(engine, 0);
	return engine;
}

/* A packet of flow n of a service; with IPv4 options it is no common one. */
static struct rte_mbuf *packet(
	struct gw_engine *engine, uint16_t n, uint16_t port, uint8_t flags, bool options)
{
	static const uint8_t nops[4] = {1, 1, 1, 0};
	struct frame frame = frame_v4();

	frame_put16(&frame, 34, n);
	frame_put16(&frame, 36, port);
	frame.bytes[47] = flags;
	if (options) {
		frame_insert(&frame, FRAME_ETH + 20, nops, sizeof(nops));
		frame.bytes[FRAME_ETH]++;
		frame_put16(&frame, FRAME_ETH + 2, 49);
	}
	return harness_frame(engine, frame.bytes, frame.length, 1);
}

static struct gw_result run(struct gw_engine *engine, uint16_t n, uint16_t port, uint8_t flags)
{
	return harness_run(engine, packet(engine, n, port, flags, false), NULL, NULL);
}

static void check(struct gw_result result, uint32_t backend, enum gw_trace_flow flow)
{
	CU_ASSERT_EQUAL(result.verdict, GW_VERDICT_TX);
	CU_ASSERT_EQUAL(result.backend, backend);
	CU_ASSERT_EQUAL(result.flow, flow);
}

/* Words of the flow table that are not empty; the sum of all tells a changed one. */
static uint32_t words_used(const struct gw_engine *engine, uint64_t *sum)
{
	uint32_t used = 0;

	*sum = 0;
	for (uint32_t i = 0; i < engine->flows.buckets * GW_FLOW_BUCKET_WORDS; i++) {
		uint64_t word = engine->flows.bucket[i / 8].word[i % 8];

		used += word != GW_FLOW_EMPTY;
		*sum += word;
	}
	return used;
}

#define SYN GW_TCP_SYN
#define ACK GW_TCP_ACK
#define FIN GW_TCP_FIN

static void its_packets_go_by_the_table_and_leave_nothing(void)
{
	struct gw_engine *engine = start();
	struct gw_counters counters;
	uint64_t sum;

	for (uint16_t n = 1; n <= 20; n++) {
		const uint8_t flags[] = {SYN, ACK, FIN | ACK};

		for (int i = 0; i < 3; i++) {
			struct gw_result result = run(engine, n, DNS, flags[i]);

			check(result, 0, GW_TRACE_TABLE_ONLY);
			CU_ASSERT_EQUAL(result.slot, result.hash % SIZE);
		}
	}
	counters = harness_counters(engine);
	CU_ASSERT_EQUAL(words_used(engine, &sum), 0);
	CU_ASSERT_EQUAL(counters.flows_new, 0);
	CU_ASSERT_EQUAL(counters.flows_moved, 0);
	CU_ASSERT_EQUAL(counters.untracked, 0);
	CU_ASSERT_EQUAL(counters.tx, 60);
	CU_ASSERT_EQUAL(engine->worker[0]->service_traffic[1].flows_new, 0);
	harness_stop(engine);
}

static void another_table_moves_its_packets_at_once(void)
{
	struct gw_engine *engine = start();

	check(run(engine, 1, WEB, SYN), 0, GW_TRACE_NEW);
	check(run(engine, 1, DNS, ACK), 0, GW_TRACE_TABLE_ONLY);
	backends[0].state = GW_BACKEND_DRAIN;
	point_table(engine, 1);
	check(run(engine, 1, WEB, ACK), 0, GW_TRACE_HIT); /* tracked: stays while it drains */
	check(run(engine, 1, DNS, ACK), 1, GW_TRACE_TABLE_ONLY);
	CU_ASSERT_EQUAL(harness_counters(engine).flows_moved, 0);
	harness_stop(engine);
}

static void without_a_member_it_has_no_backend(void)
{
	struct gw_engine *engine = start();
	struct gw_result result;

	run(engine, 1, DNS, ACK);
	member_count = 0;
	load(engine);
	result = run(engine, 1, DNS, ACK);
	CU_ASSERT_EQUAL(result.verdict, GW_VERDICT_DROP);
	CU_ASSERT_EQUAL(result.reason, GW_DROP_NO_BACKEND);
	harness_stop(engine);
}

/* Both kinds, by both roads, known flows and new ones, each in its turn. */
static void one_burst_takes_both_kinds(void)
{
	struct gw_engine *engine = start();
	struct gw_worker *worker = engine->worker[0];
	struct rte_mbuf *burst[GW_BURST_MAX];
	uint64_t sum;

	run(engine, 1, WEB, SYN);
	run(engine, 1, DNS, SYN);
	for (uint16_t i = 0; i < GW_BURST_MAX; i++)
		burst[i] = packet(
			engine, i % 4 < 2 ? 1 : 2 + i / 4, i % 2 ? DNS : WEB, ACK, i % 8 >= 4);
	point_table(engine, 1);
	gw_pipeline_run(worker, 0, burst, GW_BURST_MAX);
	for (uint16_t i = 0; i < GW_BURST_MAX; i++) {
		if (i % 2)
			check(worker->burst.result[i], 1, GW_TRACE_TABLE_ONLY);
		else
			check(worker->burst.result[i], i % 4 ? 1 : 0,
				i % 4 ? GW_TRACE_NEW : GW_TRACE_HIT);
	}
	/* Flow 1, and of each four packets one new flow. */
	CU_ASSERT_EQUAL(words_used(engine, &sum), 1 + GW_BURST_MAX / 4);
	CU_ASSERT_EQUAL(harness_counters(engine).flows_new, 1 + GW_BURST_MAX / 4);
	rte_pktmbuf_free_bulk(burst, GW_BURST_MAX);
	worker->tx[0].count = 0;
	harness_stop(engine);
}

static void words_from_before_are_neither_read_nor_written(void)
{
	struct gw_engine *engine = start();
	uint64_t before, after;

	run(engine, 1, WEB, SYN);
	run(engine, 1, WEB, ACK);
	services[0].flags = GW_SERVICE_UNTRACKED;
	point_table(engine, 1);
	CU_ASSERT_EQUAL(words_used(engine, &before), 1);
	engine->worker[0]->now += 5; /* a stamp would show */
	for (int i = 0; i < 2; i++)
		check(run(engine, 1, WEB, FIN | ACK), 1, GW_TRACE_TABLE_ONLY);
	CU_ASSERT_EQUAL(words_used(engine, &after), 1);
	CU_ASSERT_EQUAL(before, after);
	harness_stop(engine);
}

static void tracked_again_it_knows_the_flows_that_have_not_run_out(void)
{
	struct gw_engine *engine = start();

	run(engine, 1, WEB, SYN);
	run(engine, 1, WEB, ACK); /* established: 900 s */
	run(engine, 2, WEB, SYN); /* new: 10 s */
	services[0].flags = GW_SERVICE_UNTRACKED;
	point_table(engine, 1);
	run(engine, 1, WEB, ACK);
	run(engine, 3, WEB, ACK);
	engine->worker[0]->now += 11;
	services[0].flags = 0;
	load(engine);
	check(run(engine, 1, WEB, ACK), 0, GW_TRACE_HIT);
	check(run(engine, 2, WEB, ACK), 1, GW_TRACE_NEW);
	check(run(engine, 3, WEB, ACK), 1, GW_TRACE_NEW);
	harness_stop(engine);
}

static const struct gw_test tests[] = {
	GW_TEST(its_packets_go_by_the_table_and_leave_nothing),
	GW_TEST(another_table_moves_its_packets_at_once),
	GW_TEST(without_a_member_it_has_no_backend),
	GW_TEST(one_burst_takes_both_kinds),
	GW_TEST(words_from_before_are_neither_read_nor_written),
	GW_TEST(tracked_again_it_knows_the_flows_that_have_not_run_out),
};

GW_SUITE("dp_untracked", tests)
