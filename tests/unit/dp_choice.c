/* SPDX-License-Identifier: BSD-2-Clause */
/* packets.md, "Choosing the backend", row by row, through the real pipeline and its snapshots. */
#include "dataplane/sweeper.h"
#include "dp_harness.h"
#include "frames.h"
#include "suite.h"

#include <stdlib.h>
#include <string.h>

#define BACKENDS 3
#define SIZE	 65537u

/*
 * One pool of three backends behind TCP and UDP port 80. A test changes states and the table and
 * loads again; the version rises by itself.
 */
static struct gw_backend backends[BACKENDS + 1];
static uint16_t slots[SIZE];
static uint32_t members[BACKENDS];
static uint32_t member_count;
static uint64_t version;
static const char *vip_text;

static void load(struct gw_engine *engine)
{
	static const struct gw_service services[] = {{.pool = 0}};
	static const struct gw_span spans[] = {{80, 80, 0}};
	struct gw_vip vip = image_vip(vip_text, 128);
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
		.service_count = 1,
		.vips = &vip,
		.vip_count = 1,
		.spans = spans,
		.span_count = 1,
		.backends = backends,
		.backend_count = BACKENDS + 1,
		.next_hops = &hop,
		.next_hop_count = 1};

	vip.tcp = vip.udp = (struct gw_span_run){0, 1};
	harness_load(engine, &spec);
}

/* All slots to one member, given as a backend. */
static void point_table(uint32_t backend)
{
	members[0] = backend;
	member_count = 1;
	memset(slots, 0, sizeof(slots));
}

static struct gw_engine *start(void)
{
	struct gw_engine *engine = harness_start(1024, 1);

	for (uint32_t i = 0; i < BACKENDS; i++)
		backends[i] = image_backend(0, 0, "10.82.0.11", "10.82.0.101");
	backends[BACKENDS] = (struct gw_backend){.state = GW_BACKEND_FREE};
	version = 0;
	vip_text = "203.0.113.10";
	point_table(0);
	load(engine);
	return engine;
}

/* One TCP packet of flow n with these flags. */
static struct gw_result tcp(struct gw_engine *engine, uint16_t n, uint8_t flags)
{
	struct frame frame = frame_v4();

	frame_put16(&frame, 34, n);
	frame.bytes[47] = flags;
	return harness_run(engine, harness_frame(engine, frame.bytes, frame.length, 1), NULL, NULL);
}

static struct gw_result udp(struct gw_engine *engine, uint16_t n)
{
	struct frame frame = frame_v4();

	frame.bytes[23] = 17;
	frame_put16(&frame, 34, n);
	frame_put16(&frame, 38, 25);
	return harness_run(engine, harness_frame(engine, frame.bytes, frame.length, 1), NULL, NULL);
}

static void check(struct gw_result result, uint32_t backend, enum gw_trace_flow flow)
{
	CU_ASSERT_EQUAL(result.verdict, GW_VERDICT_TX);
	CU_ASSERT_EQUAL(result.backend, backend);
	CU_ASSERT_EQUAL(result.flow, flow);
}

#define SYN GW_TCP_SYN
#define ACK GW_TCP_ACK

static void tracked_flow_stays_whatever_the_table_says(void)
{
	struct gw_engine *engine = start();

	check(tcp(engine, 1, SYN), 0, GW_TRACE_NEW);
	check(tcp(engine, 1, ACK), 0, GW_TRACE_HIT);
	point_table(1);
	load(engine);
	check(tcp(engine, 1, ACK), 0, GW_TRACE_HIT);
	check(tcp(engine, 1, SYN), 0, GW_TRACE_HIT); /* a retransmission too */
	check(tcp(engine, 2, SYN), 1, GW_TRACE_NEW);
	check(udp(engine, 1), 1, GW_TRACE_NEW); /* the protocol counts */
	harness_stop(engine);
}

static void tracked_flow_stays_when_its_backend_drains(void)
{
	struct gw_engine *engine = start();

	tcp(engine, 1, SYN);
	tcp(engine, 1, ACK);
	udp(engine, 1);
	backends[0].state = GW_BACKEND_DRAIN;
	point_table(1);
	load(engine);
	check(tcp(engine, 1, ACK), 0, GW_TRACE_HIT);
	check(udp(engine, 1), 0, GW_TRACE_HIT);
	check(tcp(engine, 2, SYN), 1, GW_TRACE_NEW);
	/* A new connection on the same ports does not go to a backend that drains. */
	check(tcp(engine, 1, SYN), 1, GW_TRACE_MOVED);
	check(tcp(engine, 1, ACK), 1, GW_TRACE_HIT);
	harness_stop(engine);
}

static void drained_as_the_last_backend_keeps_its_flows(void)
{
	struct gw_engine *engine = start();

	tcp(engine, 1, SYN);
	backends[0].state = GW_BACKEND_DRAIN;
	member_count = 0;
	load(engine);
	check(tcp(engine, 1, ACK), 0, GW_TRACE_HIT);
	CU_ASSERT_EQUAL(tcp(engine, 2, SYN).reason, GW_DROP_NO_BACKEND);
	harness_stop(engine);
}

static void flow_leaves_a_backend_that_may_not_keep_it(void)
{
	static const uint8_t states[] = {GW_BACKEND_DOWN, GW_BACKEND_DISABLED, GW_BACKEND_FREE};

	for (size_t i = 0; i < sizeof(states); i++) {
		struct gw_engine *engine = start();

		tcp(engine, 1, SYN);
		tcp(engine, 1, ACK);
		/* A UDP client that never pauses: a packet a second, its entry never expires. */
		udp(engine, 1);
		udp(engine, 1);
		backends[0].state = states[i];
		point_table(2);
		load(engine);
		check(tcp(engine, 1, ACK), 2, GW_TRACE_MOVED);
		check(udp(engine, 1), 2, GW_TRACE_MOVED);
		check(tcp(engine, 1, ACK), 2, GW_TRACE_HIT);
		check(udp(engine, 1), 2, GW_TRACE_HIT);
		CU_ASSERT_EQUAL(harness_counters(engine).flows_moved, 2);
		/* It stays there when the old one is back. */
		backends[0].state = GW_BACKEND_ACTIVE;
		point_table(0);
		load(engine);
		check(tcp(engine, 1, ACK), 2, GW_TRACE_HIT);
		harness_stop(engine);
	}
}

static void on_down_keep_leaves_flows_where_they_are(void)
{
	struct gw_engine *engine = start();

	tcp(engine, 1, SYN);
	backends[0].state = GW_BACKEND_DOWN;
	backends[0].flags = GW_BACKEND_KEEP_ON_DOWN;
	point_table(1);
	load(engine);
	check(tcp(engine, 1, ACK), 0, GW_TRACE_HIT);
	check(tcp(engine, 1, SYN), 1, GW_TRACE_MOVED);
	harness_stop(engine);
}

static void flow_of_another_pools_backend_is_a_miss(void)
{
	struct gw_engine *engine = start();
	struct gw_flow_key key = {.protocol = 6,
		.source = image_address("198.51.100.7"),
		.destination = image_address("203.0.113.10"),
		.source_port = GW_HTONS(1),
		.destination_port = GW_HTONS(80)};
	struct gw_flow_place place = gw_flow_table_place(&engine->flows, &key);
	uint64_t *word = &engine->flows.bucket[place.bucket].word[0];

	/* A backend id that the snapshot does not have, and one that it has as free. */
	*word = gw_flow_word(
		place.tag, GW_FLOW_BACKEND_MAX, GW_FLOW_ESTABLISHED, engine->worker[0]->now);
	check(tcp(engine, 1, ACK), 0, GW_TRACE_MOVED);
	*word = gw_flow_word(place.tag, BACKENDS + 1, GW_FLOW_ESTABLISHED, engine->worker[0]->now);
	check(tcp(engine, 1, ACK), 0, GW_TRACE_MOVED);
	*word = gw_flow_word(place.tag, BACKENDS, GW_FLOW_ESTABLISHED, engine->worker[0]->now);
	check(tcp(engine, 1, ACK), 0, GW_TRACE_MOVED);
	check(tcp(engine, 1, ACK), 0, GW_TRACE_HIT);
	harness_stop(engine);
}

static void packets_without_an_entry_go_by_the_table(void)
{
	struct gw_engine *engine = start();

	check(tcp(engine, 1, ACK), 0, GW_TRACE_NEW);
	check(tcp(engine, 2, GW_TCP_FIN | ACK), 0, GW_TRACE_NEW);
	check(tcp(engine, 3, GW_TCP_RST), 0, GW_TRACE_NEW);
	check(udp(engine, 4), 0, GW_TRACE_NEW);
	CU_ASSERT_EQUAL(harness_counters(engine).flows_new, 4);
	harness_stop(engine);
}

/* A worker remembers the addresses that it has met; 203.0.113.11 and others share its memory. */
static void an_address_that_left_the_snapshot_is_the_hosts_at_once(void)
{
	struct gw_engine *engine = start();
	struct frame frame = frame_v4();

	check(tcp(engine, 1, ACK), 0, GW_TRACE_NEW);
	for (int last = 0; last < 256; last++) {
		struct gw_result result;

		frame.bytes[33] = (uint8_t)last;
		result = harness_run(
			engine, harness_frame(engine, frame.bytes, frame.length, 1), NULL, NULL);
		CU_ASSERT_EQUAL(result.verdict, last == 10 ? GW_VERDICT_TX : GW_VERDICT_HOST);
	}
	vip_text = "203.0.113.11";
	load(engine);
	CU_ASSERT_EQUAL(tcp(engine, 1, ACK).verdict, GW_VERDICT_HOST);
	harness_stop(engine);
}

static void nothing_remembers_the_empty_moment(void)
{
	struct gw_engine *engine = start();

	tcp(engine, 1, SYN);
	tcp(engine, 1, ACK);
	backends[0].state = GW_BACKEND_DOWN;
	member_count = 0;
	load(engine);
	CU_ASSERT_EQUAL(tcp(engine, 1, ACK).reason, GW_DROP_NO_BACKEND);
	CU_ASSERT_EQUAL(tcp(engine, 2, SYN).reason, GW_DROP_NO_BACKEND);
	CU_ASSERT_EQUAL(harness_counters(engine).drops[GW_DROP_NO_BACKEND], 2);
	point_table(1);
	load(engine);
	check(tcp(engine, 1, ACK), 1, GW_TRACE_MOVED);
	check(tcp(engine, 2, SYN), 1, GW_TRACE_NEW);
	harness_stop(engine);
}

static void an_idle_flow_expires_and_goes_by_the_table(void)
{
	struct gw_engine *engine = start();
	struct gw_worker *worker = engine->worker[0];

	tcp(engine, 1, SYN);
	tcp(engine, 1, ACK);
	tcp(engine, 2, SYN);
	point_table(1);
	load(engine);
	worker->now += 11; /* tcp_new is 10 s here, tcp_established 900 s */
	check(tcp(engine, 2, ACK), 1, GW_TRACE_NEW);
	check(tcp(engine, 1, ACK), 0, GW_TRACE_HIT);
	worker->now += 901;
	check(tcp(engine, 1, ACK), 1, GW_TRACE_NEW);
	harness_stop(engine);
}

static void a_half_closed_flow_lives_while_packets_come(void)
{
	struct gw_engine *engine = start();
	struct gw_worker *worker = engine->worker[0];

	tcp(engine, 1, SYN);
	tcp(engine, 1, ACK);
	tcp(engine, 1, GW_TCP_FIN | ACK);
	point_table(1);
	load(engine);
	for (int i = 0; i < 5; i++) {
		worker->now += 50; /* tcp_closing is 60 s */
		check(tcp(engine, 1, ACK), 0, GW_TRACE_HIT);
	}
	worker->now += 61;
	check(tcp(engine, 1, SYN), 1, GW_TRACE_NEW);
	harness_stop(engine);
}

/* Both packets are looked up before either is inserted: the second must still follow the first. */
static void two_packets_of_one_flow_in_one_burst_share_a_backend(void)
{
	struct gw_engine *engine = start();
	struct gw_worker *worker = engine->worker[0];
	struct frame frame = frame_v4();
	struct rte_mbuf *burst[3];

	backends[0].state = GW_BACKEND_DOWN;
	for (int moved = 0; moved < 2; moved++) {
		for (int i = 0; i < 3; i++) {
			frame.bytes[47] = i ? ACK : SYN;
			burst[i] = harness_frame(engine, frame.bytes, frame.length, 1);
		}
		gw_pipeline_run(worker, 0, burst, 3);
		check(worker->burst.result[0], (uint32_t)moved,
			moved ? GW_TRACE_MOVED : GW_TRACE_NEW);
		check(worker->burst.result[1], (uint32_t)moved, GW_TRACE_HIT);
		check(worker->burst.result[2], (uint32_t)moved, GW_TRACE_HIT);
		rte_pktmbuf_free_bulk(burst, 3);
		worker->tx[0].count = 0;
		point_table(1);
		load(engine);
	}
	CU_ASSERT_EQUAL(harness_counters(engine).flows_new, 1);
	CU_ASSERT_EQUAL(harness_counters(engine).flows_moved, 1);
	harness_stop(engine);
}

static void a_full_flow_table_stops_no_packet(void)
{
	struct gw_engine *engine = start();
	uint64_t words = (uint64_t)engine->flows.buckets * GW_FLOW_BUCKET_WORDS;
	struct gw_result result;

	for (uint64_t i = 0; i < words; i++)
		engine->flows.bucket[i / 8].word[i % 8] = gw_flow_word(
			(uint32_t)i << 8, 0, GW_FLOW_ESTABLISHED, engine->worker[0]->now);
	for (int i = 0; i < 2; i++) {
		result = tcp(engine, 1, ACK);
		check(result, 0, GW_TRACE_UNTRACKED);
		CU_ASSERT_EQUAL(result.slot, result.hash % SIZE);
	}
	CU_ASSERT_EQUAL(harness_counters(engine).untracked, 2);
	harness_stop(engine);
}

static void slots_lead_to_the_members_they_name(void)
{
	struct gw_engine *engine = start();
	uint32_t seen[BACKENDS] = {};

	/* Members in an order of their own, slots in another. */
	member_count = BACKENDS;
	members[0] = 2;
	members[1] = 0;
	members[2] = 1;
	for (uint32_t i = 0; i < SIZE; i++)
		slots[i] = (uint16_t)(i % 7 % BACKENDS);
	load(engine);
	for (uint16_t n = 1; n <= 300; n++) {
		struct gw_result result = tcp(engine, n, SYN);

		CU_ASSERT_EQUAL(result.backend, members[slots[result.hash % SIZE]]);
		seen[result.backend]++;
	}
	for (int i = 0; i < BACKENDS; i++)
		CU_ASSERT(seen[i] > 30);
	harness_stop(engine);
}

static void the_sweeper_counts_active_flows_and_retires_the_rest(void)
{
	struct gw_engine *engine = start();
	struct gw_worker *worker = engine->worker[0];
	uint32_t *counts = calloc(GW_MAX_BACKENDS, sizeof(*counts));
	uint32_t buckets = engine->flows.buckets;
	uint64_t *marks = calloc(2 * gw_flow_sweep_words(buckets), sizeof(*marks));
	struct gw_flow_sweep sweep;
	uint64_t retired = 0;

	CU_ASSERT_PTR_NOT_NULL_FATAL(counts);
	CU_ASSERT_PTR_NOT_NULL_FATAL(marks);
	gw_flow_sweep_start(&sweep, buckets, marks, worker->now);
	for (uint16_t n = 1; n <= 10; n++)
		tcp(engine, n, SYN);
	point_table(1);
	load(engine);
	worker->now += 5;
	for (uint16_t n = 11; n <= 14; n++)
		udp(engine, n);
	CU_ASSERT_EQUAL(gw_sweep(engine, &sweep, 0, buckets, worker->now, counts), 14);
	CU_ASSERT_EQUAL(counts[0], 10);
	CU_ASSERT_EQUAL(counts[1], 4);
	memset(counts, 0, GW_MAX_BACKENDS * sizeof(*counts));
	/* 11 s after the SYNs, 6 s after the datagrams: tcp_new is over. */
	CU_ASSERT_EQUAL(gw_sweep(engine, &sweep, 0, buckets, worker->now + 6, counts), 4);
	CU_ASSERT_EQUAL(counts[0], 0);
	for (uint32_t i = 0; i < buckets * 8; i++)
		retired += engine->flows.bucket[i / 8].word[i % 8] >= GW_FLOW_RETIRED &&
			   gw_flow_state(engine->flows.bucket[i / 8].word[i % 8]) == GW_FLOW_FREE;
	CU_ASSERT_EQUAL(retired, 10);
	free(marks);
	free(counts);
	harness_stop(engine);
}

static const struct gw_test tests[] = {
	GW_TEST(tracked_flow_stays_whatever_the_table_says),
	GW_TEST(tracked_flow_stays_when_its_backend_drains),
	GW_TEST(drained_as_the_last_backend_keeps_its_flows),
	GW_TEST(flow_leaves_a_backend_that_may_not_keep_it),
	GW_TEST(on_down_keep_leaves_flows_where_they_are),
	GW_TEST(flow_of_another_pools_backend_is_a_miss),
	GW_TEST(packets_without_an_entry_go_by_the_table),
	GW_TEST(an_address_that_left_the_snapshot_is_the_hosts_at_once),
	GW_TEST(nothing_remembers_the_empty_moment),
	GW_TEST(an_idle_flow_expires_and_goes_by_the_table),
	GW_TEST(a_half_closed_flow_lives_while_packets_come),
	GW_TEST(two_packets_of_one_flow_in_one_burst_share_a_backend),
	GW_TEST(a_full_flow_table_stops_no_packet),
	GW_TEST(slots_lead_to_the_members_they_name),
	GW_TEST(the_sweeper_counts_active_flows_and_retires_the_rest),
};

GW_SUITE("dp_choice", tests)
