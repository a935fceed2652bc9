/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The XDP program in the kernel, frame by frame: what leaves, what is decided, what is counted. The
 * short way of common packets has cases of its own (xdp_short_way.c).
 */
#include "abi/encap.h"
#include "abi/parse.h"
#include "xdp_world.h"

static void ipv4_leaves_in_ipv4(void)
{
	struct world *world = world_make(1024);
	struct frame frame = frame_v4();
	struct gw_xdp_trace trace = run(world, &frame);
	struct gw_traffic traffic = {0};
	uint8_t expected[34] = {2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x08, 0x00, 0x45, 0xb9, 0x00,
		0x41, 0, 0, 0, 0, 64, 4, 0, 0, 10, 82, 0, 11, 10, 82, 0, 101};
	uint32_t sum = 0;

	CU_ASSERT_EQUAL_FATAL(trace.verdict, GW_VERDICT_TX);
	CU_ASSERT_EQUAL(trace.service, 0);
	CU_ASSERT_EQUAL(trace.slot, trace.hash % TABLE_SIZE);
	CU_ASSERT_EQUAL(trace.backend, trace.slot % 2);
	CU_ASSERT_EQUAL_FATAL(world->out_length, 14 + 20 + 45);
	expected[33] = (uint8_t)(101 + trace.backend);
	/* id: inner 0x1234 XOR the hash; the checksum by its own rule: all sums to 0xffff */
	expected[18] = (uint8_t)(0x12 ^ (trace.hash >> 8));
	expected[19] = (uint8_t)(0x34 ^ trace.hash);
	memcpy(expected + 24, world->out + 24, 2);
	CU_ASSERT_EQUAL(memcmp(world->out, expected, 34), 0);
	for (int i = 14; i < 34; i += 2)
		sum += (uint32_t)world->out[i] << 8 | world->out[i + 1];
	CU_ASSERT_EQUAL((sum & 0xffff) + (sum >> 16), 0xffff);
	CU_ASSERT_EQUAL(memcmp(world->out + 34, frame_ipv4_tcp + 14, 45), 0);
	gw_xdp_traffic(&world->run.object, GW_XDP_TRAFFIC_BACKENDS, trace.backend, &traffic);
	CU_ASSERT_EQUAL(traffic.packets, 1);
	CU_ASSERT_EQUAL(traffic.bytes, 45);
	gw_xdp_traffic(&world->run.object, GW_XDP_TRAFFIC_SERVICES, 0, &traffic);
	CU_ASSERT_EQUAL(traffic.bytes, 45);
	world_free(world);
}

static void ipv6_leaves_in_ipv6(void)
{
	struct world *world = world_make(1024);
	struct frame frame = frame_v6();
	struct gw_xdp_trace trace = run(world, &frame);
	struct gw_address ends[] = {image_address("fd82::11"), image_address("fd82::103")};
	static const uint8_t head[] = {0x86, 0xdd, 0x65, 0xa0, 0, 0, 0, 51, 41, 64};

	CU_ASSERT_EQUAL_FATAL(trace.verdict, GW_VERDICT_TX);
	CU_ASSERT_EQUAL(trace.backend, 2);
	CU_ASSERT_EQUAL_FATAL(world->out_length, 14 + 40 + 51);
	CU_ASSERT_EQUAL(memcmp(world->out + 12, head, sizeof(head)), 0);
	CU_ASSERT_EQUAL(memcmp(world->out + 22, ends, 32), 0);
	CU_ASSERT_EQUAL(memcmp(world->out + 54, frame_ipv6_udp + 14, 51), 0);
	world_free(world);
}

/* With any of these in front the same packet comes out. */
static void tags_and_padding_are_no_part_of_what_leaves(void)
{
	static const uint8_t tag[4] = {0x81, 0x00, 0x00, 0x64}, outer[4] = {0x88, 0xa8, 0x00, 0x0a};
	struct world *world = world_make(1024);
	struct frame frame = frame_v4();
	uint8_t plain[14 + 20 + 45];

	run(world, &frame);
	CU_ASSERT_EQUAL_FATAL(world->out_length, sizeof(plain));
	memcpy(plain, world->out, sizeof(plain));
	frame.length += 37;
	for (int i = 0; i < 3; i++) {
		CU_ASSERT_EQUAL(run(world, &frame).verdict, GW_VERDICT_TX);
		CU_ASSERT_EQUAL(world->out_length, sizeof(plain));
		CU_ASSERT_EQUAL(memcmp(world->out, plain, sizeof(plain)), 0);
		frame_insert(&frame, 12, i ? outer : tag, 4);
	}
	world_free(world);
}

static void what_is_for_no_service_address_is_the_hosts(void)
{
	struct world *world = world_make(1024);
	struct frame frame = frame_v4();

	frame.bytes[33] = 11;
	frame.bytes[14] = 0x41; /* whatever is wrong with it */
	CU_ASSERT_EQUAL(run(world, &frame).verdict, GW_VERDICT_HOST);
	frame_put16(&frame, 12, 0x0806);
	CU_ASSERT_EQUAL(run(world, &frame).verdict, GW_VERDICT_HOST);
	CU_ASSERT_EQUAL(world_counters(world).to_host, 2);
	world_free(world);
}

static void a_frame_for_another_machines_mac_is_the_hosts(void)
{
	static const uint8_t mac[6] = {0x02, 0, 0, 0, 0, 0x0b};
	struct world *world = world_make(1024);
	struct frame frame = frame_v4();

	memcpy(world->run.object.config->port_mac[0], mac, 6);
	CU_ASSERT_EQUAL(run(world, &frame).verdict, GW_VERDICT_TX);
	frame.bytes[5] = 0x0c;
	CU_ASSERT_EQUAL(run(world, &frame).verdict, GW_VERDICT_HOST);
	frame.bytes[0] = 0x03; /* a group: for us too, and no place for a service's packet */
	dropped(world, &frame, GW_DROP_MARTIAN);
	world_free(world);
}

static void each_broken_rule_has_its_own_counter(void)
{
	static const uint8_t option[8];
	struct world *world = world_make(1024);
	struct frame frame = frame_v4();

	frame.bytes[14] = 0x44;
	dropped(world, &frame, GW_DROP_MALFORMED);
	frame = frame_v4();
	frame_put16(&frame, 20, 0x0001);
	dropped(world, &frame, GW_DROP_FRAG_EARLY);
	frame = frame_v4();
	frame.bytes[26] = 127;
	dropped(world, &frame, GW_DROP_MARTIAN);
	frame = frame_v4();
	frame_put16(&frame, 36, 81);
	dropped(world, &frame, GW_DROP_NO_SERVICE);
	frame = frame_v6();
	for (int i = 0; i < 9; i++)
		frame_insert_exthdr(&frame, GW_EXT_DESTINATION, option, 8);
	dropped(world, &frame, GW_DROP_EXTHDR);
	world_free(world);
}

static void spans_are_found_at_both_ends_and_not_beyond(void)
{
	static const struct {
		uint16_t port;
		bool service;
	} cases[] = {{79, false}, {80, true}, {81, false}, {7999, false}, {8000, true},
		{8050, true}, {8099, true}, {8100, false}, {0, false}, {65535, false}};
	struct world *world = world_make(1024);
	struct frame frame = frame_v4();

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		frame_put16(&frame, 36, cases[i].port);
		CU_ASSERT_EQUAL(run(world, &frame).service, cases[i].service ? 0 : GW_NONE);
	}
	world_free(world);
}

static void the_longest_address_wins_without_falling_back(void)
{
	static const uint8_t in_block[] = {198, 18, 1, 1}, single[] = {198, 18, 5, 7};
	struct world *world = world_make(1024);
	struct frame frame = frame_v4();

	memcpy(frame.bytes + 30, in_block, 4);
	CU_ASSERT_EQUAL(run(world, &frame).service, 2);
	memcpy(frame.bytes + 30, single, 4);
	CU_ASSERT_EQUAL(run(world, &frame).verdict, GW_VERDICT_HOST);
	world_free(world);
}

static void affinity_by_source_ignores_ports_and_destination(void)
{
	static const uint8_t addresses[][4] = {{198, 18, 1, 1}, {198, 19, 200, 3}};
	struct world *world = world_make(1024);
	struct frame frame = frame_v4();
	uint64_t hash[2];

	for (int i = 0; i < 2; i++) {
		memcpy(frame.bytes + 30, addresses[i], 4);
		frame_put16(&frame, 34, (uint16_t)(1000 + i));
		hash[i] = run(world, &frame).hash;
	}
	CU_ASSERT_EQUAL(hash[0], hash[1]);
	CU_ASSERT_EQUAL(world_counters(world).flows_new, 2); /* tracked by the whole tuple */
	world_free(world);
}

static void a_tracked_flow_survives_a_new_table_and_new_flows_follow_it(void)
{
	struct world *world = world_make(4096);
	uint32_t first[64], moved = 0;

	for (uint16_t i = 0; i < 64; i++) {
		struct frame frame = flow_frame((uint16_t)(1000 + i), GW_TCP_SYN);

		first[i] = run(world, &frame).backend;
	}
	world->pools[0].members = world->members + 1; /* backend 1 alone */
	world->pools[0].member_count = 1;
	world->pools[0].digest = 3;
	world_publish(world);
	CU_ASSERT_EQUAL(world->run.tables.rebuilt_pools, 1);
	for (uint16_t i = 0; i < 64; i++) {
		struct frame frame = flow_frame((uint16_t)(1000 + i), GW_TCP_ACK);
		struct gw_xdp_trace trace = run(world, &frame);

		moved += trace.backend != first[i];
		CU_ASSERT_EQUAL(trace.flow, GW_TRACE_HIT);
		frame = flow_frame((uint16_t)(2000 + i), GW_TCP_SYN);
		CU_ASSERT_EQUAL(run(world, &frame).backend, 1);
	}
	CU_ASSERT_EQUAL(moved, 0);
	world_free(world);
}

static void a_flow_leaves_a_dead_backend_at_its_next_packet(void)
{
	struct world *world = world_make(1024);
	struct frame frame = flow_frame(1000, GW_TCP_ACK);
	uint32_t dead = run(world, &frame).backend;
	struct gw_xdp_trace trace;

	world->backends[dead].state = GW_BACKEND_DOWN;
	world->members[0] = world->members[1] = !dead;
	world->pools[0].member_count = 1;
	world->pools[0].digest = 4;
	world_publish(world);
	trace = run(world, &frame);
	CU_ASSERT_EQUAL(trace.backend, !dead);
	CU_ASSERT_EQUAL(trace.flow, GW_TRACE_MOVED);
	CU_ASSERT_EQUAL(run(world, &frame).flow, GW_TRACE_HIT);
	CU_ASSERT_EQUAL(world_counters(world).flows_moved, 1);
	world_free(world);
}

static void an_empty_pool_drops_and_is_not_remembered(void)
{
	struct world *world = world_make(1024);
	struct frame frame = flow_frame(1000, GW_TCP_SYN);

	world->pools[0].member_count = 0;
	world->pools[0].digest = 0;
	world_publish(world);
	dropped(world, &frame, GW_DROP_NO_BACKEND);
	world->pools[0].member_count = 2;
	world->pools[0].digest = 1;
	world_publish(world);
	CU_ASSERT_EQUAL(run(world, &frame).flow, GW_TRACE_NEW);
	world_free(world);
}

static void time_is_the_callers_and_flows_age_by_it(void)
{
	struct world *world = world_make(1024);
	struct frame frame = flow_frame(1000, GW_TCP_ACK);

	CU_ASSERT_EQUAL(run(world, &frame).flow, GW_TRACE_NEW);
	world->now += 10 * SECOND;
	CU_ASSERT_EQUAL(
		run(world, &frame).flow, GW_TRACE_HIT); /* NEW lives 10 s; now established */
	world->now += 900 * SECOND;
	CU_ASSERT_EQUAL(run(world, &frame).flow, GW_TRACE_HIT);
	world->now += 901 * SECOND;
	CU_ASSERT_EQUAL(run(world, &frame).flow, GW_TRACE_NEW);
	world_free(world);
}

static void a_full_table_forwards_and_keeps_the_established(void)
{
	struct world *world = world_make(64);
	uint32_t tracked = 0;

	for (int round = 0; round < 2; round++)
		for (uint16_t i = 0; i < 400; i++) {
			struct frame frame = flow_frame((uint16_t)(1000 + i), GW_TCP_ACK);

			run(world, &frame);
			run(world, &frame);
		}
	CU_ASSERT(world_counters(world).untracked > 0);
	CU_ASSERT_EQUAL(world_counters(world).tx, 1600);
	for (uint16_t i = 0; i < 1000; i++) { /* a flood of SYN */
		struct frame frame = flow_frame((uint16_t)(10000 + i), GW_TCP_SYN);

		run(world, &frame);
	}
	for (uint16_t i = 0; i < 400; i++) {
		struct frame frame = flow_frame((uint16_t)(1000 + i), GW_TCP_ACK);

		tracked += run(world, &frame).flow == GW_TRACE_HIT;
	}
	CU_ASSERT_EQUAL(tracked, 128); /* two words a flow that there is room for */
	world_free(world);
}

static void an_unresolved_next_hop_is_counted_and_a_big_packet_answered(void)
{
	struct world *world = world_make(1024);
	struct frame frame = frame_v6();

	world->hops[2].link.flags = 0;
	world_publish(world);
	dropped(world, &frame, GW_DROP_NO_NEIGHBOUR);
	frame.length += 1460 - 51;
	frame_put16(&frame, 18, 1460 - 40);
	world->hops[2].link.flags = GW_LINK_RESOLVED;
	world_publish(world);
	CU_ASSERT_EQUAL(run(world, &frame).verdict, GW_VERDICT_TX);
	CU_ASSERT_EQUAL(world->out_length, 1514);
	frame.length += 1;
	frame_put16(&frame, 18, 1461 - 40);
	CU_ASSERT_EQUAL(run(world, &frame).verdict, GW_VERDICT_REPLY);
	world->backends[2].mtu = 1400; /* the pool's word counts beside the link's */
	world->hops[2].mtu = 9000;
	world_publish(world);
	frame.length -= 100;
	frame_put16(&frame, 18, 1361 - 40);
	CU_ASSERT_EQUAL(run(world, &frame).verdict, GW_VERDICT_REPLY);
	world_free(world);
}

static void tables_that_did_not_change_are_not_made_again(void)
{
	struct world *world = world_make(1024);

	CU_ASSERT_EQUAL(world->run.tables.rebuilt_pools, 2);
	world->backends[0].state = GW_BACKEND_DRAIN;
	world_publish(world);
	CU_ASSERT_EQUAL(world->run.tables.rebuilt_pools, 0);
	world->members[1] = 2; /* the same digest with other ids must not be taken for the same */
	world_publish(world);
	CU_ASSERT_EQUAL(world->run.tables.rebuilt_pools, 1);
	world_free(world);
}

static void addresses_and_services_that_left_are_the_hosts_again(void)
{
	struct world *world = world_make(1024);
	struct frame frame = frame_v4();
	struct gw_vip gone = world->vips[0];

	world->vips[0] = image_vip("203.0.113.99", 128);
	world_publish(world);
	CU_ASSERT_EQUAL(run(world, &frame).verdict, GW_VERDICT_HOST);
	world->vips[0] = gone;
	world_publish(world);
	CU_ASSERT_EQUAL(run(world, &frame).verdict, GW_VERDICT_TX);
	world_free(world);
}

static const struct gw_test tests[] = {
	GW_TEST(ipv4_leaves_in_ipv4),
	GW_TEST(ipv6_leaves_in_ipv6),
	GW_TEST(tags_and_padding_are_no_part_of_what_leaves),
	GW_TEST(what_is_for_no_service_address_is_the_hosts),
	GW_TEST(a_frame_for_another_machines_mac_is_the_hosts),
	GW_TEST(each_broken_rule_has_its_own_counter),
	GW_TEST(spans_are_found_at_both_ends_and_not_beyond),
	GW_TEST(the_longest_address_wins_without_falling_back),
	GW_TEST(affinity_by_source_ignores_ports_and_destination),
	GW_TEST(a_tracked_flow_survives_a_new_table_and_new_flows_follow_it),
	GW_TEST(a_flow_leaves_a_dead_backend_at_its_next_packet),
	GW_TEST(an_empty_pool_drops_and_is_not_remembered),
	GW_TEST(time_is_the_callers_and_flows_age_by_it),
	GW_TEST(a_full_table_forwards_and_keeps_the_established),
	GW_TEST(an_unresolved_next_hop_is_counted_and_a_big_packet_answered),
	GW_TEST(tables_that_did_not_change_are_not_made_again),
	GW_TEST(addresses_and_services_that_left_are_the_hosts_again),
};

XDP_SUITE("xdp_program", tests)
