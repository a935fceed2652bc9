/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What only the DPDK path can meet of encapsulation: frames in several segments under a checksum,
 * several ways, tags of the next hop, tags that the port took off.
 */
#include "abi/encap.h"
#include "dp_harness.h"
#include "frames.h"
#include "suite.h"

#include <rte_ethdev.h>
#include <rte_ring.h>

#include <string.h>

/* Service 0: TCP 80 on 203.0.113.10, pool 0, backend 0 in GUE over IPv6, checksum computed. */
static struct gw_backend backend;
static struct image_spec spec;

static struct gw_engine *start(void)
{
	static const uint32_t members[] = {0};
	static const struct image_pool pool = {
		.id = 0, .table_size = 65537, .members = members, .member_count = 1, .digest = 1};
	static const struct gw_service service = {.pool = 0};
	static const struct gw_span span = {80, 80, 0};
	static struct gw_vip vip;
	static struct gw_next_hop hop;
	struct gw_engine *engine = harness_start(1024, 1);

	vip = image_vip("203.0.113.10", 128);
	vip.tcp = (struct gw_span_run){0, 1};
	backend = image_backend(0, 0, "fd82::11", "fd82::101");
	backend.encap = GW_ENCAP_GUE;
	backend.gue_port = GW_HTONS(6080);
	backend.flags = GW_BACKEND_GUE_CHECKSUM;
	backend.overhead = GW_IPV6_HEADER + GW_GUE_HEADER;
	hop = image_next_hop("fd82::101");
	spec = (struct image_spec){.version = spec.version + 1,
		.pools = &pool,
		.pool_count = 1,
		.services = &service,
		.service_count = 1,
		.vips = &vip,
		.vip_count = 1,
		.spans = &span,
		.span_count = 1,
		.backends = &backend,
		.backend_count = 1,
		.next_hops = &hop,
		.next_hop_count = 1};
	harness_load(engine, &spec);
	return engine;
}

/* RFC 1071 over pseudo header and UDP, byte by byte; 0xffff when the checksum is right. */
static uint32_t udp_sum(const uint8_t *ip)
{
	uint32_t length = (uint32_t)ip[44] << 8 | ip[45], sum = length + 17;

	for (uint32_t i = 8; i < 40; i++)
		sum += i % 2 ? ip[i] : (uint32_t)ip[i] << 8;
	for (uint32_t i = 0; i < length; i++)
		sum += i % 2 ? ip[40 + i] : (uint32_t)ip[40 + i] << 8;
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

static void a_checksum_over_several_segments_is_right(void)
{
	struct gw_engine *engine = start();
	struct frame frame = frame_v4();
	uint8_t out[2048];
	size_t length;

	for (unsigned int extra = 0; extra < 40; extra++) {
		struct frame longer = frame;

		for (unsigned int i = 0; i < extra; i++)
			longer.bytes[longer.length++] = (uint8_t)(17 * i + extra);
		frame_put16(&longer, 16, (uint16_t)(longer.length - 14));
		for (unsigned int segments = 1; segments < 14; segments++) {
			struct gw_result result = harness_run(engine,
				harness_frame(engine, longer.bytes, longer.length, segments), out,
				&length);

			CU_ASSERT_EQUAL(result.verdict, GW_VERDICT_TX);
			CU_ASSERT_EQUAL(length, longer.length + 48);
			CU_ASSERT_EQUAL(udp_sum(out + 14), 0xffff);
			CU_ASSERT_EQUAL(memcmp(out + 62, longer.bytes + 14, longer.length - 14), 0);
		}
	}
	harness_stop(engine);
}

static struct gw_result run_port(
	struct gw_engine *engine, uint16_t source_port, uint8_t out[2048], size_t *length)
{
	struct frame frame = frame_v4();

	frame_put16(&frame, 34, source_port);
	return harness_run(
		engine, harness_frame(engine, frame.bytes, frame.length, 1), out, length);
}

static void of_several_ways_the_flows_hash_chooses(void)
{
	struct gw_engine *engine = start();
	uint32_t live = engine->generation->view[0]->backend[0].next_hop;
	struct gw_link record = {.flags = GW_LINK_MULTIPATH | 5 << GW_LINK_VLAN_SHIFT};
	uint8_t out[2048];
	uint32_t seen = 0;
	size_t length;

	for (uint8_t b = 0; b < GW_PATH_BUCKETS; b++) {
		struct gw_link link = {.destination_mac = {2, 0, 0, 0, 1, b},
			.flags = b == 3 ? 0 : GW_LINK_RESOLVED};

		gw_link_store(&engine->hops.paths[5].link[b], &link);
	}
	gw_next_hop_store(&engine->hops, live, &record);
	for (uint16_t port = 1000; port < 1200; port++) {
		struct gw_result result = run_port(engine, port, out, &length);
		uint32_t bucket = (uint32_t)(result.hash >> 40) % 16;

		seen |= 1u << bucket;
		if (bucket == 3) {
			CU_ASSERT_EQUAL(result.reason, GW_DROP_NO_NEIGHBOUR);
			continue;
		}
		CU_ASSERT_EQUAL(result.verdict, GW_VERDICT_TX);
		CU_ASSERT_EQUAL(out[4], 1);
		CU_ASSERT_EQUAL(out[5], bucket);
	}
	CU_ASSERT_EQUAL(seen, 0xffff);
	harness_stop(engine);
}

static void the_next_hops_tag_is_written(void)
{
	struct gw_engine *engine = start();
	uint32_t live = engine->generation->view[0]->backend[0].next_hop;
	struct gw_link link = engine->hops.live[live].link;
	uint8_t out[2048];
	size_t length;

	link.flags |= 100 << GW_LINK_VLAN_SHIFT;
	gw_next_hop_store(&engine->hops, live, &link);
	CU_ASSERT_EQUAL(run_port(engine, 1000, out, &length).verdict, GW_VERDICT_TX);
	CU_ASSERT_EQUAL(memcmp(out + 12, "\x81\x00\x00\x64\x86\xdd", 6), 0);
	CU_ASSERT_EQUAL(udp_sum(out + 18), 0xffff);
	CU_ASSERT_EQUAL(length, frame_v4().length + 4 + 48);
	harness_stop(engine);
}

static void a_tag_that_the_port_took_off_is_given_back_to_the_host(void)
{
	struct gw_engine *engine = start();
	struct frame frame = frame_v4();
	struct rte_mbuf *mbuf;
	void *got = NULL;
	size_t length;

	frame.bytes[33] = 99; /* no service */
	mbuf = harness_frame(engine, frame.bytes, frame.length, 1);
	mbuf->ol_flags = RTE_MBUF_F_RX_VLAN | RTE_MBUF_F_RX_VLAN_STRIPPED;
	mbuf->vlan_tci = 0x6123;
	CU_ASSERT_EQUAL(harness_run(engine, mbuf, NULL, &length).verdict, GW_VERDICT_HOST);
	CU_ASSERT_EQUAL_FATAL(rte_ring_sc_dequeue(engine->worker[0]->to_host, &got), 0);
	mbuf = got;
	CU_ASSERT_EQUAL(mbuf->pkt_len, frame.length + 4);
	CU_ASSERT_EQUAL(memcmp(rte_pktmbuf_mtod(mbuf, uint8_t *), frame.bytes, 12), 0);
	CU_ASSERT_EQUAL(
		memcmp(rte_pktmbuf_mtod_offset(mbuf, uint8_t *, 12), "\x81\x00\x61\x23\x08\x00", 6),
		0);
	rte_pktmbuf_free(mbuf);
	harness_stop(engine);
}

/* Backends of each kind that has a loop of its own, and of one that has none. */
static struct gw_engine *start_kinds(void)
{
	static const uint8_t mode[5] = {
		GW_ENCAP_IPIP, GW_ENCAP_IPIP, GW_ENCAP_GUE, GW_ENCAP_GUE, GW_ENCAP_GRE};
	static const uint8_t overhead[5] = {20, 40, 28, 48, 24};
	static const uint32_t members[5] = {0, 1, 2, 3, 4};
	static const struct image_pool pool = {
		.id = 0, .table_size = 65537, .members = members, .member_count = 5, .digest = 1};
	static struct gw_backend backends[5];
	static struct gw_next_hop hops[2];
	struct gw_engine *engine = start();

	hops[0] = image_next_hop("10.0.0.1");
	hops[1] = image_next_hop("fd82::101");
	for (uint32_t b = 0; b < 5; b++) {
		backends[b] = b % 2 ? image_backend(0, 1, "fd82::11", "fd82::101")
				    : image_backend(0, 0, "10.0.0.16", "10.0.0.1");
		backends[b].encap = mode[b];
		backends[b].overhead = overhead[b];
		backends[b].gue_port = GW_HTONS(6080);
	}
	spec.version++;
	spec.pools = &pool;
	spec.backends = backends;
	spec.backend_count = 5;
	spec.next_hops = hops;
	spec.next_hop_count = 2;
	harness_load(engine, &spec);
	return engine;
}

/* Packets to backends of all kinds, in one burst, leave as each would alone, and in their order. */
static void kinds_mixed_in_a_burst_leave_as_each_alone(void)
{
	struct gw_engine *engine = start_kinds();
	struct rte_mbuf *mbufs[GW_BURST_MAX];
	uint32_t seen = 0;

	for (uint16_t i = 0; i < GW_BURST_MAX; i++) {
		struct frame frame = frame_v4();

		frame_put16(&frame, 34, 1000 + i);
		mbufs[i] = harness_frame(engine, frame.bytes, frame.length, 1);
	}
	gw_pipeline_run(engine->worker[0], 0, mbufs, GW_BURST_MAX);
	for (uint32_t i = 0; i < GW_BURST_MAX; i++)
		seen |= 1u << engine->worker[0]->burst.result[i].backend;
	CU_ASSERT_EQUAL(seen, 0x1f);
	gw_tx_flush(engine->worker[0]);
	CU_ASSERT_EQUAL_FATAL(
		rte_eth_rx_burst(engine->port[0].ethdev, 0, mbufs, GW_BURST_MAX), GW_BURST_MAX);
	for (uint16_t i = 0; i < GW_BURST_MAX; i++) {
		uint8_t alone[2048];
		size_t length;

		run_port(engine, 1000 + i, alone, &length);
		CU_ASSERT_EQUAL(mbufs[i]->pkt_len, length);
		CU_ASSERT(length >= FRAME_V4 + 20 &&
			  memcmp(rte_pktmbuf_mtod(mbufs[i], void *), alone, length) == 0);
	}
	rte_pktmbuf_free_bulk(mbufs, GW_BURST_MAX);
	harness_stop(engine);
}

static const struct gw_test tests[] = {
	GW_TEST(a_checksum_over_several_segments_is_right),
	GW_TEST(of_several_ways_the_flows_hash_chooses),
	GW_TEST(kinds_mixed_in_a_burst_leave_as_each_alone),
	GW_TEST(the_next_hops_tag_is_written),
	GW_TEST(a_tag_that_the_port_took_off_is_given_back_to_the_host),
};

GW_SUITE("dp_encap", tests)
