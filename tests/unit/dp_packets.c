/* SPDX-License-Identifier: BSD-2-Clause */
/* Whole packets through the real pipeline: what leaves, byte for byte, and what is counted. */
#include "dataplane/departure.h"
#include "dataplane/service.h"
#include "dataplane/service_traffic.h"
#include "dp_harness.h"
#include "frames.h"
#include "suite.h"

#include <rte_ethdev.h>

#include <stdlib.h>
#include <string.h>

static const uint8_t our_mac[] = {2, 0, 0, 0, 0, 2}, next_mac[] = {2, 0, 0, 0, 0, 1};

/*
 * Service 0: TCP 80 and 8000-8099 on 203.0.113.10, pool 0, backend 0 over IPv4. Service 1: UDP 443
 * on 2001:db8:113::10, pool 1, backend 1 over IPv6. Service 2: any on 198.18.0.0/15, pool 0.
 * Service 3: TCP 443 on 198.18.5.0/24, pool 0. 198.18.5.7 itself: a service address without ports.
 */
static struct image_spec spec;

static void fill_spec(void)
{
	static const uint32_t first[] = {0}, second[] = {1};
	static const struct image_pool pools[] = {
		{.id = 0, .table_size = 65537, .members = first, .member_count = 1, .digest = 1},
		{.id = 1, .table_size = 65537, .members = second, .member_count = 1, .digest = 2}};
	static const struct gw_service services[] = {
		{.pool = 0}, {.pool = 1}, {.pool = 0}, {.pool = 0}};
	static const struct gw_span spans[] = {
		{80, 80, 0}, {8000, 8099, 0}, {443, 443, 1}, {443, 443, 3}};
	static struct gw_vip vips[5];
	static struct gw_backend backends[2];
	static struct gw_next_hop hops[2];

	vips[0] = image_vip("203.0.113.10", 128);
	vips[0].tcp = (struct gw_span_run){0, 2};
	vips[1] = image_vip("2001:db8:113::10", 128);
	vips[1].udp = (struct gw_span_run){2, 1};
	vips[2] = image_vip("198.18.0.0", 96 + 15);
	vips[2].any_service = 2;
	vips[3] = image_vip("198.18.5.0", 96 + 24);
	vips[3].tcp = (struct gw_span_run){3, 1};
	vips[4] = image_vip("198.18.5.7", 128);
	vips[4].flags = GW_VIP_NO_SERVICE_HOST;
	backends[0] = image_backend(0, 0, "10.82.0.11", "10.82.0.101");
	backends[1] = image_backend(1, 1, "fd82::11", "fd82::101");
	hops[0] = image_next_hop("10.82.0.101");
	hops[1] = image_next_hop("fd82::101");
	spec = (struct image_spec){.version = spec.version + 1,
		.pools = pools,
		.pool_count = 2,
		.services = services,
		.service_count = 4,
		.vips = vips,
		.vip_count = 5,
		.spans = spans,
		.span_count = 4,
		.backends = backends,
		.backend_count = 2,
		.next_hops = hops,
		.next_hop_count = 2};
}

static struct gw_engine *start(void)
{
	struct gw_engine *engine = harness_start(1024, 1);

	fill_spec();
	harness_load(engine, &spec);
	return engine;
}

static struct gw_result run(
	struct gw_engine *engine, const struct frame *frame, uint8_t *out, size_t *length)
{
	return harness_run(
		engine, harness_frame(engine, frame->bytes, frame->length, 1), out, length);
}

static uint16_t get16(const uint8_t *at)
{
	return (uint16_t)(at[0] << 8 | at[1]);
}

/* RFC 1071: the sum over a right header is 0xffff. */
static uint32_t header_sum(const uint8_t *at, size_t length)
{
	uint32_t sum = 0;

	for (size_t i = 0; i < length; i += 2)
		sum += get16(at + i);
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

static void check_ethernet(const uint8_t *out, uint16_t type)
{
	CU_ASSERT_EQUAL(memcmp(out, next_mac, 6), 0);
	CU_ASSERT_EQUAL(memcmp(out + 6, our_mac, 6), 0);
	CU_ASSERT_EQUAL(get16(out + 12), type);
}

/* The outer IPv4 header of RFC 2003 and packets.md around `inner`. */
static void check_outer_ipv4(const uint8_t *out, size_t length, const uint8_t *inner,
	size_t inner_length, uint8_t protocol)
{
	static const uint8_t addresses[] = {10, 82, 0, 11, 10, 82, 0, 101};

	CU_ASSERT_EQUAL_FATAL(length, 14 + 20 + inner_length);
	check_ethernet(out, 0x0800);
	CU_ASSERT_EQUAL(out[14], 0x45);
	CU_ASSERT_EQUAL(get16(out + 16), 20 + inner_length);
	CU_ASSERT_EQUAL(out[22], 64);
	CU_ASSERT_EQUAL(out[23], protocol);
	CU_ASSERT_EQUAL(header_sum(out + 14, 20), 0xffff);
	CU_ASSERT_EQUAL(memcmp(out + 26, addresses, 8), 0);
	CU_ASSERT_EQUAL(memcmp(out + 34, inner, inner_length), 0);
}

static void ipv4_leaves_in_ipv4(void)
{
	struct gw_engine *engine = start();
	struct frame frame = frame_v4();
	struct gw_result result;
	uint8_t out[2048];
	size_t length;

	result = run(engine, &frame, out, &length);
	CU_ASSERT_EQUAL(result.verdict, GW_VERDICT_TX);
	CU_ASSERT_EQUAL(result.service, 0);
	CU_ASSERT_EQUAL(result.backend, 0);
	CU_ASSERT_EQUAL(result.flow, GW_TRACE_NEW);
	check_outer_ipv4(out, length, frame_ipv4_tcp + 14, 45, 4);
	CU_ASSERT_EQUAL(out[15], 0xb9); /* DSCP and ECN copied */
	/* DF clear: id is the inner one XOR the hash's low 16 bits. */
	CU_ASSERT_EQUAL(get16(out + 18), 0x1234 ^ (result.hash & 0xffff));
	CU_ASSERT_EQUAL(get16(out + 20), 0);
	CU_ASSERT_EQUAL(engine->worker[0]->departure[0].packets, 1);
	CU_ASSERT_EQUAL(engine->worker[0]->departure[0].bytes, 45);
	CU_ASSERT_EQUAL(gw_service_traffic_read(engine->worker[0], 0).bytes, 45);
	CU_ASSERT_EQUAL(harness_counters(engine).tx, 1);
	harness_stop(engine);
}

static void ipv6_leaves_in_ipv6(void)
{
	struct gw_engine *engine = start();
	struct frame frame = frame_v6();
	struct gw_result result;
	uint8_t out[2048];
	size_t length;
	struct gw_address ends[] = {image_address("fd82::11"), image_address("fd82::101")};

	result = run(engine, &frame, out, &length);
	CU_ASSERT_EQUAL(result.service, 1);
	CU_ASSERT_EQUAL_FATAL(length, 14 + 40 + 51);
	check_ethernet(out, 0x86dd);
	CU_ASSERT_EQUAL(get16(out + 14), 0x65a0); /* version, traffic class 0x5a; label 0 */
	CU_ASSERT_EQUAL(get16(out + 16), 0);
	CU_ASSERT_EQUAL(get16(out + 18), 51);
	CU_ASSERT_EQUAL(out[20], 41);
	CU_ASSERT_EQUAL(out[21], 64);
	CU_ASSERT_EQUAL(memcmp(out + 22, ends, 32), 0);
	CU_ASSERT_EQUAL(memcmp(out + 54, frame_ipv6_udp + 14, 51), 0);
	harness_stop(engine);
}

static void families_may_differ(void)
{
	struct gw_engine *engine = harness_start(1024, 1);
	struct frame v4 = frame_v4(), v6 = frame_v6();
	struct gw_backend backends[2];
	uint8_t out[2048];
	size_t length;

	fill_spec();
	backends[0] = image_backend(0, 1, "fd82::11", "fd82::101");
	backends[1] = image_backend(1, 0, "10.82.0.11", "10.82.0.101");
	spec.backends = backends;
	harness_load(engine, &spec);
	run(engine, &v4, out, &length);
	CU_ASSERT_EQUAL_FATAL(length, 14 + 40 + 45);
	check_ethernet(out, 0x86dd);
	CU_ASSERT_EQUAL(get16(out + 18), 45);
	CU_ASSERT_EQUAL(out[20], 4);
	CU_ASSERT_EQUAL(memcmp(out + 54, frame_ipv4_tcp + 14, 45), 0);
	run(engine, &v6, out, &length);
	check_outer_ipv4(out, length, frame_ipv6_udp + 14, 51, 41);
	CU_ASSERT_EQUAL(get16(out + 18), 0);	  /* id 0 … */
	CU_ASSERT_EQUAL(get16(out + 20), 0x4000); /* … because DF is set around IPv6 */
	harness_stop(engine);
}

static void the_hash_is_that_of_the_canonical_key(void)
{
	/* design.md: source 16, destination 16, ports in network order, protocol, three zeros. */
	static const uint8_t key[40] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 198, 51, 100, 7,
		0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 203, 0, 113, 10, 0x9c, 0x40, 0, 80, 6, 0,
		0, 0};
	struct gw_engine *engine = harness_start(1024, 1);
	struct frame frame = frame_v4();
	struct gw_result result;

	fill_spec();
	spec.hash_seed = 0x1122334455667788;
	harness_load(engine, &spec);
	result = run(engine, &frame, NULL, NULL);
	CU_ASSERT_EQUAL(result.hash, XXH3_64bits_withSeed(key, 40, 0x1122334455667788));
	CU_ASSERT_EQUAL(result.slot, result.hash % 65537);
	harness_stop(engine);
}

static void padding_and_tags_are_cut(void)
{
	static const uint8_t tags[] = {0x81, 0, 0, 7, 0x81, 0, 0, 9};
	struct gw_engine *engine = start();
	struct frame frame = frame_v4();
	uint8_t out[2048];
	size_t length;

	memset(frame.bytes + frame.length, 0xee, 40);
	frame.length += 40;
	run(engine, &frame, out, &length);
	check_outer_ipv4(out, length, frame_ipv4_tcp + 14, 45, 4);
	frame_insert(&frame, 12, tags, 4);
	run(engine, &frame, out, &length);
	check_outer_ipv4(out, length, frame_ipv4_tcp + 14, 45, 4);
	frame_insert(&frame, 12, tags, 4);
	frame.bytes[12] = 0x88;
	frame.bytes[13] = 0xa8;
	run(engine, &frame, out, &length);
	check_outer_ipv4(out, length, frame_ipv4_tcp + 14, 45, 4);
	harness_stop(engine);
}

static void a_frame_in_pieces_leaves_whole(void)
{
	struct gw_engine *engine = start();
	struct frame frame = frame_v4();
	uint8_t out[2048];
	size_t length;

	memset(frame.bytes + frame.length, 0xee, 30);
	for (size_t padding = 0; padding <= 30; padding += 10) {
		for (unsigned int segments = 2; segments < 12; segments++) {
			struct gw_result result = harness_run(engine,
				harness_frame(
					engine, frame.bytes, frame.length + padding, segments),
				out, &length);

			CU_ASSERT_EQUAL(result.verdict, GW_VERDICT_TX);
			check_outer_ipv4(out, length, frame_ipv4_tcp + 14, 45, 4);
		}
	}
	harness_stop(engine);
}

static void a_jumbo_frame_in_pieces_leaves_whole(void)
{
	struct gw_engine *engine = start();
	struct frame frame = frame_v4();
	static uint8_t big[8000];
	struct gw_result result;
	struct rte_mbuf *mbuf;
	size_t length;

	engine->port[0].mtu = 9000;
	memcpy(big, frame.bytes, frame.length);
	big[16] = (uint8_t)((sizeof(big) - 14) >> 8);
	big[17] = (uint8_t)(sizeof(big) - 14);
	mbuf = harness_frame(engine, big, sizeof(big), 5);
	/* Each next hop's MTU is that of its port unless it says less. */
	gw_pipeline_run(engine->worker[0], 0, &mbuf, 1);
	result = engine->worker[0]->burst.result[0];
	CU_ASSERT_EQUAL(result.verdict, GW_VERDICT_TX);
	CU_ASSERT_EQUAL(mbuf->pkt_len, sizeof(big) + 20);
	CU_ASSERT_EQUAL(mbuf->nb_segs, 5);
	rte_pktmbuf_free(mbuf);
	engine->worker[0]->tx[0].count = 0;
	length = harness_counters(engine).tx;
	CU_ASSERT_EQUAL(length, 1);
	harness_stop(engine);
}

static void stale_offload_flags_do_not_leave(void)
{
	struct gw_engine *engine = start();
	struct frame frame = frame_v4();
	struct rte_mbuf *mbuf = harness_frame(engine, frame.bytes, frame.length, 1);

	mbuf->ol_flags = RTE_MBUF_F_RX_RSS_HASH | RTE_MBUF_F_RX_VLAN_STRIPPED | RTE_MBUF_F_RX_VLAN |
			 RTE_MBUF_F_TX_IP_CKSUM | RTE_MBUF_F_TX_IPV4;
	mbuf->vlan_tci = 5;
	mbuf->l2_len = 14;
	gw_pipeline_run(engine->worker[0], 0, &mbuf, 1);
	CU_ASSERT_EQUAL(mbuf->ol_flags, 0);
	CU_ASSERT_EQUAL(mbuf->tx_offload, 0);
	CU_ASSERT_EQUAL(mbuf->vlan_tci, 0);
	rte_pktmbuf_free(mbuf);
	engine->worker[0]->tx[0].count = 0;
	harness_stop(engine);
}

static void no_headroom_is_a_counted_drop(void)
{
	struct gw_engine *engine = start();
	struct frame frame = frame_v4();
	struct rte_mbuf *mbuf = rte_pktmbuf_alloc(engine->pool);
	struct gw_result result;

	mbuf->data_off = 8;
	memcpy(rte_pktmbuf_append(mbuf, (uint16_t)frame.length), frame.bytes, frame.length);
	result = harness_run(engine, mbuf, NULL, NULL);
	CU_ASSERT_EQUAL(result.verdict, GW_VERDICT_DROP);
	CU_ASSERT_EQUAL(result.reason, GW_DROP_NO_HEADROOM);
	CU_ASSERT_EQUAL(harness_counters(engine).drops[GW_DROP_NO_HEADROOM], 1);
	harness_stop(engine);
}

static void macs_decide_whose_frame_it_is(void)
{
	struct gw_engine *engine = start();
	struct frame other = frame_v4(), own = frame_v4(), group = frame_v4();

	other.bytes[5] = 0x77;
	CU_ASSERT_EQUAL(run(engine, &other, NULL, NULL).verdict, GW_VERDICT_HOST);
	memcpy(own.bytes + 6, own.bytes, 6);
	CU_ASSERT_EQUAL(run(engine, &own, NULL, NULL).verdict, GW_VERDICT_CONSUMED);
	memset(group.bytes, 0xff, 6);
	CU_ASSERT_EQUAL(run(engine, &group, NULL, NULL).reason, GW_DROP_MARTIAN);
	group.bytes[12] = 0x08;
	group.bytes[13] = 0x06; /* ARP */
	CU_ASSERT_EQUAL(run(engine, &group, NULL, NULL).verdict, GW_VERDICT_HOST);
	engine->port[0].any_mac = true;
	CU_ASSERT_EQUAL(run(engine, &other, NULL, NULL).verdict, GW_VERDICT_TX);
	CU_ASSERT_EQUAL(harness_counters(engine).to_host, 2);
	CU_ASSERT_EQUAL(harness_counters(engine).consumed, 1);
	harness_stop(engine);
}

static void without_a_snapshot_all_is_the_hosts(void)
{
	struct gw_engine *engine = harness_start(1024, 1);
	struct frame frame = frame_v4();
	struct rte_mbuf *got = NULL;

	CU_ASSERT_EQUAL(run(engine, &frame, NULL, NULL).verdict, GW_VERDICT_HOST);
	CU_ASSERT_EQUAL_FATAL(rte_ring_dequeue(engine->worker[0]->to_host, (void **)&got), 0);
	CU_ASSERT_EQUAL(memcmp(rte_pktmbuf_mtod(got, void *), frame.bytes, frame.length), 0);
	rte_pktmbuf_free(got);
	harness_stop(engine);
}

static void a_full_host_path_is_a_counted_drop(void)
{
	struct gw_engine *engine = start();
	struct frame frame = frame_v4();

	frame.bytes[33] = 99; /* 203.0.113.99 is no service */
	for (int i = 0; i < 1023; i++)
		CU_ASSERT_EQUAL(run(engine, &frame, NULL, NULL).verdict, GW_VERDICT_HOST);
	CU_ASSERT_EQUAL(run(engine, &frame, NULL, NULL).reason, GW_DROP_HOST_FULL);
	CU_ASSERT_EQUAL(harness_counters(engine).to_host, 1023);
	CU_ASSERT_EQUAL(harness_counters(engine).drops[GW_DROP_HOST_FULL], 1);
	/* Where the kernel sees the port anyway nothing is handed over twice. */
	engine->port[0].kernel_has_copy = true;
	CU_ASSERT_EQUAL(run(engine, &frame, NULL, NULL).verdict, GW_VERDICT_HOST);
	CU_ASSERT_EQUAL(harness_counters(engine).to_host, 1024);
	harness_stop(engine);
}

static struct gw_result to(struct gw_engine *engine, const char *address, uint16_t port)
{
	struct frame frame = frame_v4();
	struct gw_address destination = image_address(address);

	memcpy(frame.bytes + 30, destination.bytes + 12, 4);
	frame_put16(&frame, 36, port);
	return run(engine, &frame, NULL, NULL);
}

static void ports_match_exactly_and_by_range(void)
{
	struct gw_engine *engine = start();

	CU_ASSERT_EQUAL(to(engine, "203.0.113.10", 80).service, 0);
	CU_ASSERT_EQUAL(to(engine, "203.0.113.10", 8000).service, 0);
	CU_ASSERT_EQUAL(to(engine, "203.0.113.10", 8099).service, 0);
	CU_ASSERT_EQUAL(to(engine, "203.0.113.10", 79).reason, GW_DROP_NO_SERVICE);
	CU_ASSERT_EQUAL(to(engine, "203.0.113.10", 81).reason, GW_DROP_NO_SERVICE);
	CU_ASSERT_EQUAL(to(engine, "203.0.113.10", 7999).reason, GW_DROP_NO_SERVICE);
	CU_ASSERT_EQUAL(to(engine, "203.0.113.10", 8100).reason, GW_DROP_NO_SERVICE);
	CU_ASSERT_EQUAL(harness_counters(engine).drops[GW_DROP_NO_SERVICE], 4);
	harness_stop(engine);
}

/* Every port against a plain walk, for runs of every length up to 40. */
static void the_span_search_finds_what_a_walk_finds(void)
{
	struct gw_span spans[40];
	const struct gw_view view = {.span = spans};
	struct gw_vip vip = image_vip("203.0.113.10", 128);
	unsigned int random = 7, wrong = 0;

	for (uint32_t count = 0; count <= 40; count++) {
		uint16_t port = 0;

		for (uint32_t i = 0; i < count; i++) {
			spans[i].first = (uint16_t)(port + 1 + rand_r(&random) % 3);
			spans[i].last = (uint16_t)(spans[i].first + rand_r(&random) % 4);
			spans[i].service = i;
			port = spans[i].last;
		}
		vip.udp = (struct gw_span_run){0, count};
		for (uint32_t p = 0; p < 400; p++) {
			uint32_t expected = GW_NONE;

			for (uint32_t i = 0; i < count; i++)
				if (p >= spans[i].first && p <= spans[i].last)
					expected = i;
			wrong += gw_vip_service(&view, &vip, GW_PROTO_UDP, (uint16_t)p) != expected;
		}
	}
	CU_ASSERT_EQUAL(wrong, 0);
}

static void the_longest_address_wins_without_falling_back(void)
{
	struct gw_engine *engine = start();

	CU_ASSERT_EQUAL(to(engine, "198.18.0.1", 9).service, 2);
	CU_ASSERT_EQUAL(to(engine, "198.19.255.255", 9).service, 2);
	CU_ASSERT_EQUAL(to(engine, "198.20.0.0", 9).verdict, GW_VERDICT_HOST);
	CU_ASSERT_EQUAL(to(engine, "198.18.5.1", 443).service, 3);
	/* The /24 has no port 9, and the /15 behind it, which takes any, is not asked. */
	CU_ASSERT_EQUAL(to(engine, "198.18.5.1", 9).reason, GW_DROP_NO_SERVICE);
	/* The full address has no ports at all and gives the rest to the host. */
	CU_ASSERT_EQUAL(to(engine, "198.18.5.7", 443).verdict, GW_VERDICT_HOST);
	CU_ASSERT_EQUAL(to(engine, "198.18.5.7", 443).service, GW_NONE);
	harness_stop(engine);
}

static void any_takes_other_protocols(void)
{
	struct gw_engine *engine = start();
	struct frame frame = frame_v4();
	struct gw_result result;

	memcpy(frame.bytes + 30, (uint8_t[]){198, 18, 0, 1}, 4);
	frame.bytes[23] = 47;
	result = run(engine, &frame, NULL, NULL);
	CU_ASSERT_EQUAL(result.verdict, GW_VERDICT_TX);
	CU_ASSERT_EQUAL(result.service, 2);
	memcpy(frame.bytes + 30, (uint8_t[]){203, 0, 113, 10}, 4);
	CU_ASSERT_EQUAL(run(engine, &frame, NULL, NULL).reason, GW_DROP_NO_SERVICE);
	harness_stop(engine);
}

static void a_next_hop_without_link_address_is_a_counted_drop(void)
{
	struct gw_engine *engine = harness_start(1024, 1);
	struct frame frame = frame_v4();
	struct gw_next_hop hops[2];
	struct gw_link link;
	uint32_t live;

	fill_spec();
	memcpy(hops, spec.next_hops, sizeof(hops));
	hops[0].link.flags = 0;
	spec.next_hops = hops;
	harness_load(engine, &spec);
	CU_ASSERT_EQUAL(run(engine, &frame, NULL, NULL).reason, GW_DROP_NO_NEIGHBOUR);
	/* It comes alive without a new snapshot, and goes again. */
	live = engine->generation->view[0]->backend[0].next_hop;
	link = ((const struct gw_next_hop[]){image_next_hop("10.82.0.101")})[0].link;
	gw_next_hop_store(&engine->hops, live, &link);
	CU_ASSERT_EQUAL(run(engine, &frame, NULL, NULL).verdict, GW_VERDICT_TX);
	/* What is known of a next hop outlives the snapshot whose hint knew less. */
	spec.version++;
	harness_load(engine, &spec);
	CU_ASSERT_EQUAL(run(engine, &frame, NULL, NULL).verdict, GW_VERDICT_TX);
	live = engine->generation->view[0]->backend[0].next_hop;
	link.port = 3; /* there is no such port */
	gw_next_hop_store(&engine->hops, live, &link);
	CU_ASSERT_EQUAL(run(engine, &frame, NULL, NULL).reason, GW_DROP_NO_NEIGHBOUR);
	harness_stop(engine);
}

static void what_exceeds_the_egress_mtu_is_answered(void)
{
	struct gw_engine *engine = start();
	struct frame frame = frame_v4();

	frame.bytes[20] |= 0x40; /* DF: else it would be cut */
	engine->port[0].mtu = 65;
	CU_ASSERT_EQUAL(run(engine, &frame, NULL, NULL).verdict, GW_VERDICT_TX);
	engine->port[0].mtu = 64;
	CU_ASSERT_EQUAL(run(engine, &frame, NULL, NULL).verdict, GW_VERDICT_REPLY);
	engine->port[0].mtu = 1500;
	gw_next_hop_store_mtu(&engine->hops, engine->generation->view[0]->backend[0].next_hop, 64);
	CU_ASSERT_EQUAL(run(engine, &frame, NULL, NULL).verdict, GW_VERDICT_REPLY);
	/* A route that promises more than the port has does not count. */
	gw_next_hop_store_mtu(
		&engine->hops, engine->generation->view[0]->backend[0].next_hop, 9000);
	CU_ASSERT_EQUAL(run(engine, &frame, NULL, NULL).verdict, GW_VERDICT_TX);
	engine->port[0].mtu = 64;
	CU_ASSERT_EQUAL(run(engine, &frame, NULL, NULL).verdict, GW_VERDICT_REPLY);
	harness_stop(engine);
}

static void what_the_queue_refuses_is_freed_and_counted(void)
{
	struct gw_engine *engine = start();
	struct frame frame = frame_v4();
	struct rte_mbuf *burst[32];
	uint64_t sent = 0;

	/* The ring behind net_ring0 holds fewer than 1900 frames. */
	for (int i = 0; i < 59; i++) {
		for (int j = 0; j < 32; j++)
			burst[j] = harness_frame(engine, frame.bytes, frame.length, 1);
		gw_pipeline_run(engine->worker[0], 0, burst, 32);
		gw_tx_flush(engine->worker[0]);
	}
	for (uint16_t count = 1; count;) {
		count = rte_eth_rx_burst(engine->port[0].ethdev, 0, burst, 32);
		rte_pktmbuf_free_bulk(burst, count);
		sent += count;
	}
	CU_ASSERT_EQUAL(harness_counters(engine).tx, 59 * 32);
	CU_ASSERT(harness_counters(engine).tx_full > 0);
	CU_ASSERT_EQUAL(harness_counters(engine).tx_full + sent, 59 * 32);
	harness_stop(engine);
}

/* Random and cut frames in full bursts: nothing is lost from the count, no frame leaks. */
static void every_input_raises_one_counter(void)
{
	struct gw_engine *engine = start();
	struct gw_worker *worker = engine->worker[0];
	struct rte_mbuf *burst[GW_BURST_MAX];
	unsigned int random = 1;

	for (int round = 0; round < 500; round++) {
		for (int i = 0; i < GW_BURST_MAX; i++) {
			struct frame frame = i & 1 ? frame_v4() : frame_v6();
			size_t cut =
				rand_r(&random) % 4 ? 0 : (size_t)rand_r(&random) % frame.length;
			size_t length = frame.length - cut;

			for (int spoil = rand_r(&random) % 4; spoil > 0; spoil--)
				frame.bytes[(size_t)rand_r(&random) % frame.length] =
					(uint8_t)rand_r(&random);
			burst[i] = harness_frame(engine, frame.bytes, length,
				1 + (length > 20 ? (unsigned int)rand_r(&random) % 3 : 0));
		}
		gw_pipeline_run(worker, 0, burst, GW_BURST_MAX);
		gw_tx_flush(worker);
		for (uint16_t count = 1; count;) {
			count = rte_eth_rx_burst(engine->port[0].ethdev, 0, burst, 32);
			rte_pktmbuf_free_bulk(burst, count);
		}
		while (rte_ring_dequeue(worker->to_host, (void **)&burst[0]) == 0)
			rte_pktmbuf_free(burst[0]);
	}
	CU_ASSERT_EQUAL(harness_counters(engine).rx, 500 * GW_BURST_MAX);
	CU_ASSERT(harness_counters(engine).tx > 1000);
	CU_ASSERT(harness_counters(engine).drops[GW_DROP_MALFORMED] > 1000);
	harness_stop(engine);
}

static const struct gw_test tests[] = {
	GW_TEST(ipv4_leaves_in_ipv4),
	GW_TEST(ipv6_leaves_in_ipv6),
	GW_TEST(families_may_differ),
	GW_TEST(the_hash_is_that_of_the_canonical_key),
	GW_TEST(padding_and_tags_are_cut),
	GW_TEST(a_frame_in_pieces_leaves_whole),
	GW_TEST(a_jumbo_frame_in_pieces_leaves_whole),
	GW_TEST(stale_offload_flags_do_not_leave),
	GW_TEST(no_headroom_is_a_counted_drop),
	GW_TEST(macs_decide_whose_frame_it_is),
	GW_TEST(without_a_snapshot_all_is_the_hosts),
	GW_TEST(a_full_host_path_is_a_counted_drop),
	GW_TEST(ports_match_exactly_and_by_range),
	GW_TEST(the_span_search_finds_what_a_walk_finds),
	GW_TEST(the_longest_address_wins_without_falling_back),
	GW_TEST(any_takes_other_protocols),
	GW_TEST(a_next_hop_without_link_address_is_a_counted_drop),
	GW_TEST(what_exceeds_the_egress_mtu_is_answered),
	GW_TEST(what_the_queue_refuses_is_freed_and_counted),
	GW_TEST(every_input_raises_one_counter),
};

GW_SUITE("dp_packets", tests)
