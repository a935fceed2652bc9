/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a worker writes that others read or write: nothing for the packet of a tracked flow, one
 * flow word once a second. All memory that workers share is compared before and after
 * (docs/performance.md, "Which lines workers share").
 */
#include "abi/flow_sample.h"
#include "dataplane/departure.h"
#include "dataplane/fragment.h"
#include "dp_harness.h"
#include "frames.h"
#include "suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIZE	 65537u
#define FLOWS	 50
#define SYN	 GW_TCP_SYN
#define ACK	 GW_TCP_ACK
#define REGIONS	 16
#define EVERYONE 2 /* workers; the harness drives the first */

struct region {
	const char *name;
	const void *at;
	size_t size;
	void *before;
};

static struct region regions[REGIONS];
static int region_count;
static struct gw_flow_sample samples[GW_FLOW_SAMPLES];

static struct gw_engine *start(void)
{
	static const struct gw_service services[] = {{.pool = 0}};
	static const struct gw_span spans[] = {{80, 80, 0}};
	static uint16_t slots[SIZE];
	struct gw_engine *engine = harness_start(1024, EVERYONE);
	struct gw_backend backend = image_backend(0, 0, "10.82.0.11", "10.82.0.101");
	struct gw_vip vip = image_vip("203.0.113.10", 128);
	struct gw_next_hop hop = image_next_hop("10.82.0.101");
	const uint32_t member = 0;
	struct image_pool pool = {.table_size = SIZE,
		.members = &member,
		.member_count = 1,
		.slots = slots,
		.digest = 1};

	vip.tcp = (struct gw_span_run){0, 1};
	engine->samples = samples;
	harness_load(engine, &(struct image_spec){.version = 1,
				     .pools = &pool,
				     .pool_count = 1,
				     .services = services,
				     .service_count = 1,
				     .vips = &vip,
				     .vip_count = 1,
				     .spans = spans,
				     .span_count = 1,
				     .backends = &backend,
				     .backend_count = 1,
				     .next_hops = &hop,
				     .next_hop_count = 1});
	return engine;
}

static void watch(const char *name, const void *at, size_t size)
{
	struct region *region = &regions[region_count++];

	*region = (struct region){name, at, size, malloc(size)};
	CU_ASSERT_PTR_NOT_NULL_FATAL(region->before);
	memcpy(region->before, at, size);
}

/* The flow table aside, of which a test has its own expectation. */
static void watch_all(struct gw_engine *engine)
{
	const struct gw_view *view = gw_generation_view(engine->generation);
	const struct gw_worker *other = engine->worker[1];

	region_count = 0;
	watch("engine", engine, sizeof(*engine));
	watch("generation", engine->generation, sizeof(*engine->generation));
	watch("view", view, view->size);
	watch("table", view->pool[0].table, sizeof(struct gw_table) + SIZE * sizeof(uint16_t));
	watch("next hops", engine->hops.live, 1024 * sizeof(*engine->hops.live));
	watch("paths", engine->hops.paths, sizeof(*engine->hops.paths));
	watch("fragments", engine->fragments.entry, 1024 * sizeof(*engine->fragments.entry));
	watch("samples", samples, sizeof(samples));
	watch("RCU", engine->rcu, rte_rcu_qsbr_get_memsize(GW_RCU_READERS));
	watch("the other worker", other, sizeof(*other));
	watch("its backends", other->departure, 64 * sizeof(*other->departure));
	watch("its services", other->service_traffic, 64 * sizeof(*other->service_traffic));
	watch("its services' words", other->service_brief, 64 * sizeof(*other->service_brief));
	watch("its held fragments", other->hold, sizeof(*other->hold));
}

static void nothing_changed(void)
{
	for (int i = 0; i < region_count; i++) {
		bool same = memcmp(regions[i].before, regions[i].at, regions[i].size) == 0;

		if (!same)
			printf("\n    written: %s\n", regions[i].name);
		CU_ASSERT_TRUE(same);
		free(regions[i].before);
	}
}

/* One packet of each flow; all must go to the backend. */
static void send_all(struct gw_engine *engine, uint8_t flags, enum gw_trace_flow expected)
{
	for (uint16_t n = 1; n <= FLOWS; n++) {
		struct frame frame = frame_v4();
		struct gw_result result;

		frame_put16(&frame, 34, n);
		frame.bytes[47] = flags;
		result = harness_run(
			engine, harness_frame(engine, frame.bytes, frame.length, 1), NULL, NULL);
		CU_ASSERT_EQUAL(result.verdict, GW_VERDICT_TX);
		CU_ASSERT_EQUAL(result.flow, expected);
	}
}

static void a_tracked_packet_writes_nothing_that_workers_share(void)
{
	struct gw_engine *engine = start();

	send_all(engine, SYN, GW_TRACE_NEW);
	send_all(engine, ACK, GW_TRACE_HIT); /* established now */
	watch_all(engine);
	watch("flow table", engine->flows.bucket, engine->flows.size);
	for (int i = 0; i < 10; i++)
		send_all(engine, ACK, GW_TRACE_HIT);
	nothing_changed();
	harness_stop(engine);
}

static void a_new_second_writes_one_word_a_flow(void)
{
	struct gw_engine *engine = start();
	size_t words = engine->flows.size / sizeof(uint64_t), changed = 0;
	uint64_t *before = malloc(engine->flows.size);
	const uint64_t *after = engine->flows.bucket->word;

	CU_ASSERT_PTR_NOT_NULL_FATAL(before);
	send_all(engine, SYN, GW_TRACE_NEW);
	send_all(engine, ACK, GW_TRACE_HIT);
	memcpy(before, after, engine->flows.size);
	watch_all(engine);
	engine->worker[0]->now++;
	for (int i = 0; i < 10; i++)
		send_all(engine, ACK, GW_TRACE_HIT);
	for (size_t i = 0; i < words; i++) {
		changed += before[i] != after[i];
		CU_ASSERT_EQUAL(before[i] & ~(uint64_t)GW_FLOW_STAMP_MASK,
			after[i] & ~(uint64_t)GW_FLOW_STAMP_MASK);
	}
	CU_ASSERT_EQUAL(changed, FLOWS);
	nothing_changed();
	free(before);
	harness_stop(engine);
}

/* However many flows begin: a sample's line is written once a second. */
static void new_flows_share_no_more_than_the_flow_table_and_a_sample_a_second(void)
{
	struct gw_engine *engine = start();

	memset(samples, 0, sizeof(samples));
	for (uint32_t i = 0; i < GW_FLOW_SAMPLES; i++)
		samples[i].second = engine->worker[0]->now;
	watch_all(engine);
	send_all(engine, SYN, GW_TRACE_NEW);
	nothing_changed();
	harness_stop(engine);
}

/* A worker's own memory begins and ends on lines of its own. */
static void workers_begin_on_lines_of_their_own(void)
{
	struct gw_engine *engine = start();

	CU_ASSERT_EQUAL(sizeof(struct gw_worker) % GW_CACHE_LINE, 0);
	for (int i = 0; i < EVERYONE; i++) {
		const struct gw_worker *worker = engine->worker[i];

		CU_ASSERT_EQUAL((uintptr_t)worker % GW_CACHE_LINE, 0);
		CU_ASSERT_EQUAL((uintptr_t)&worker->stats % GW_CACHE_LINE, 0);
		CU_ASSERT_EQUAL((uintptr_t)worker->departure % GW_CACHE_LINE, 0);
		CU_ASSERT_EQUAL((uintptr_t)worker->service_traffic % GW_CACHE_LINE, 0);
		CU_ASSERT_EQUAL((uintptr_t)worker->service_brief % GW_CACHE_LINE, 0);
		CU_ASSERT_EQUAL((uintptr_t)worker->hold % GW_CACHE_LINE, 0);
	}
	CU_ASSERT_EQUAL((uintptr_t)engine->flows.bucket % GW_CACHE_LINE, 0);
	harness_stop(engine);
}

static const struct gw_test tests[] = {
	GW_TEST(a_tracked_packet_writes_nothing_that_workers_share),
	GW_TEST(a_new_second_writes_one_word_a_flow),
	GW_TEST(new_flows_share_no_more_than_the_flow_table_and_a_sample_a_second),
	GW_TEST(workers_begin_on_lines_of_their_own),
};

GW_SUITE("dp_sharing", tests)
