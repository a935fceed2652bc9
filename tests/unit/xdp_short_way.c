/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The short way of common packets through the XDP program (bpf/lb_fast.h): what it remembers of
 * services, judges of lengths and chooses by, for tracked flows and by the table alone.
 */
#include "abi/parse.h"
#include "xdp_world.h"

/* On the short way too, which such a flow's packets take: of tracked flows and by the table alone.
 */
static void a_length_that_leaves_no_room_for_the_headers_is_malformed(void)
{
	struct world *world = world_make(1024);

	for (int untracked = 0; untracked < 2; untracked++) {
		struct frame frame = flow_frame(40001, GW_TCP_ACK), datagram = frame_v6();

		world->services[0].flags = untracked ? GW_SERVICE_UNTRACKED : 0;
		world->services[1].flags = world->services[0].flags;
		world_publish(world);
		for (int i = 0; i < 2; i++) {
			CU_ASSERT_EQUAL(run(world, &frame).verdict, GW_VERDICT_TX);
			CU_ASSERT_EQUAL(run(world, &datagram).verdict, GW_VERDICT_TX);
		}
		for (uint16_t length = 0; length < GW_IPV4_HEADER + GW_TCP_HEADER; length++) {
			frame_put16(&frame, 16, length);
			dropped(world, &frame, GW_DROP_MALFORMED);
		}
		for (uint16_t length = 0; length < GW_UDP_HEADER; length++) {
			frame_put16(&datagram, 18, length);
			dropped(world, &datagram, GW_DROP_MALFORMED);
		}
	}
	world_free(world);
}

/* The program remembers what a packet was for; a flow's second packets go by that. */
static void a_remembered_service_changes_and_ends_with_the_next_publish(void)
{
	struct world *world = world_make(1024);
	struct frame frame = flow_frame(40001, 0x10);

	for (int i = 0; i < 3; i++)
		CU_ASSERT_EQUAL(run(world, &frame).service, 0);
	CU_ASSERT_EQUAL(run(world, &frame).flow, GW_TRACE_HIT);
	world->spans[0].service = 2; /* the same pool by its number */
	world_publish(world);
	CU_ASSERT_EQUAL(run(world, &frame).service, 2);
	CU_ASSERT_EQUAL(run(world, &frame).service, 2);
	world->spans[0].first = world->spans[0].last = 81;
	world_publish(world);
	dropped(world, &frame, GW_DROP_NO_SERVICE);
	world_free(world);
}

static uint64_t words_sum(const struct world *world)
{
	const uint64_t *words = (const uint64_t *)world->run.object.flows;
	uint64_t sum = 0;

	for (uint32_t i = 0; i < world->run.object.config->bucket_count * GW_FLOW_BUCKET_WORDS; i++)
		sum += words[i];
	return sum;
}

static void a_service_that_tracks_no_flows_goes_by_the_table_from_the_next_publish_on(void)
{
	static const uint8_t flags[] = {GW_TCP_SYN, GW_TCP_ACK, GW_TCP_FIN | GW_TCP_ACK};
	struct world *world = world_make(1024);
	struct frame frame = flow_frame(1000, GW_TCP_ACK);
	uint32_t on = 0;
	uint64_t sum;

	for (int i = 0; i < 3; i++) /* remembered, and the service on the short way */
		on = run(world, &frame).backend;
	sum = words_sum(world);
	world->services[0].flags = GW_SERVICE_UNTRACKED;
	world->pools[0].members = world->members + 1 - on; /* the other one alone */
	world->pools[0].member_count = 1;
	world->pools[0].digest = 3;
	world_publish(world);
	world->now += 5 * SECOND; /* a stamp would show */
	for (uint16_t i = 0; i < 12; i++) {
		struct frame of = flow_frame((uint16_t)(1000 + i % 4), flags[i / 4]);
		struct gw_xdp_trace trace = run(world, &of);

		CU_ASSERT_EQUAL(trace.backend, 1 - on);
		CU_ASSERT_EQUAL(trace.flow, GW_TRACE_TABLE_ONLY);
		CU_ASSERT_EQUAL(trace.slot, trace.hash % TABLE_SIZE);
	}
	CU_ASSERT_EQUAL(words_sum(world), sum);
	CU_ASSERT_EQUAL(world_counters(world).flows_new, 1);
	CU_ASSERT_EQUAL(world_counters(world).untracked, 0);
	world->services[0].flags = 0;
	world_publish(world);
	CU_ASSERT_EQUAL(run(world, &frame).flow, GW_TRACE_HIT); /* it had not run out */
	frame = flow_frame(1003, GW_TCP_ACK);
	CU_ASSERT_EQUAL(run(world, &frame).flow, GW_TRACE_NEW);
	world_free(world);
}

/*
 * Of many ways to its backend a flow keeps the one that its hash says from its first packet on, and
 * all are used: also by the program as production loads it, which makes no hash that nobody needs.
 */
static void a_flow_keeps_its_way_of_many(void)
{
	struct world *world = world_make_as(1024, false);
	struct gw_paths *paths = &world->run.object.paths[7];
	uint32_t used = 0;

	for (uint8_t way = 0; way < GW_PATH_BUCKETS; way++)
		paths->link[way] = (struct gw_link){
			.destination_mac = {0x02, 0, 0, 0, 1, way}, .flags = GW_LINK_RESOLVED};
	for (int id = 0; id < 2; id++)
		world->run.object.backends[id].link.flags =
			GW_LINK_MULTIPATH | 7 << GW_LINK_VLAN_SHIFT;
	for (uint16_t port = 2000; port < 2064; port++) {
		struct frame frame = flow_frame(port, GW_TCP_ACK);
		uint8_t first = 0;

		frame_put16(&frame, 20, 0x4000); /* may not be cut, so that its IP id is 0 */
		for (int i = 0; i < 3; i++) {
			world->out_length = sizeof(world->out);
			CU_ASSERT_EQUAL(gw_xdp_test_run_frame(&world->run, world->now, frame.bytes,
						frame.length, world->out, &world->out_length),
				XDP_TX);
			first = i ? first : world->out[5];
			CU_ASSERT_EQUAL(world->out[5], first);
		}
		used |= 1u << first;
	}
	/* 64 draws of 16: fewer than 8 different ones once in 10^11 times */
	CU_ASSERT(__builtin_popcount(used) >= 8);
	world_free(world);
}

static const struct gw_test tests[] = {
	GW_TEST(a_length_that_leaves_no_room_for_the_headers_is_malformed),
	GW_TEST(a_remembered_service_changes_and_ends_with_the_next_publish),
	GW_TEST(a_service_that_tracks_no_flows_goes_by_the_table_from_the_next_publish_on),
	GW_TEST(a_flow_keeps_its_way_of_many),
};

XDP_SUITE("xdp_short_way", tests)
