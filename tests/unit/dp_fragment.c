/* SPDX-License-Identifier: BSD-2-Clause */
/* Fragments in the DPDK pipeline: the decisions' table, what is held, what is cut. */
#include "abi/encap.h"
#include "dataplane/fragment.h"
#include "dataplane/service_traffic.h"
#include "dp_harness.h"
#include "suite.h"

#include <rte_ethdev.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define MS 1000000ull

/* One service of every protocol on 203.0.113.10, two backends over IPv4. */
static struct gw_backend backends[2];
static uint32_t members[2];
static struct image_spec spec;

static void fill_spec(void)
{
	static const struct image_pool pools[] = {
		{.id = 0, .table_size = 65537, .members = members, .member_count = 2, .digest = 1}};
	static const struct gw_service services[] = {{.pool = 0}};
	static struct gw_vip vips[1];
	static struct gw_next_hop hops[1];

	members[0] = 0;
	members[1] = 1;
	vips[0] = image_vip("203.0.113.10", 128);
	vips[0].any_service = 0;
	backends[0] = image_backend(0, 0, "10.82.0.11", "10.82.0.101");
	backends[1] = image_backend(0, 0, "10.82.0.11", "10.82.0.102");
	hops[0] = image_next_hop("10.82.0.101");
	spec = (struct image_spec){.version = spec.version + 1,
		.pools = pools,
		.pool_count = 1,
		.services = services,
		.service_count = 1,
		.vips = vips,
		.vip_count = 1,
		.backends = backends,
		.backend_count = 2,
		.next_hops = hops,
		.next_hop_count = 1};
}

static struct gw_engine *start(uint16_t workers)
{
	struct gw_engine *engine = harness_start(1024, workers);

	fill_spec();
	harness_load(engine, &spec);
	return engine;
}

struct bytes {
	uint8_t at[9100];
	size_t length;
};

/* A UDP fragment of datagram `id`: `field` is flags and offset; the ports are in the payload. */
static struct bytes fragment_of(uint16_t id, uint16_t field, size_t payload)
{
	static const uint8_t head[] = {2, 0, 0, 0, 0, 0x0b, 2, 0, 0, 0, 0, 9, 8, 0, 0x45, 0, 0, 0,
		0, 0, 0, 0, 64, 17, 0, 0, 198, 51, 100, 7, 203, 0, 113, 10, 0x10, 0, 0, 53};
	struct bytes made = {.length = 34 + payload};

	memset(made.at, 0x5a, sizeof(made.at));
	memcpy(made.at, head, sizeof(head));
	gw_wire_store16(made.at + 16, (uint16_t)(20 + payload));
	gw_wire_store16(made.at + 18, id);
	gw_wire_store16(made.at + 20, field);
	return made;
}

static struct bytes first_of(uint16_t id)
{
	return fragment_of(id, GW_IPV4_MF, 64);
}

static struct bytes later_of(uint16_t id)
{
	return fragment_of(id, 8, 64);
}

static void run(struct gw_engine *engine, uint16_t worker, const struct bytes *frames,
	uint16_t count, unsigned int segments)
{
	struct rte_mbuf *mbufs[GW_BURST_MAX];

	for (uint16_t i = 0; i < count; i++)
		mbufs[i] = harness_frame(engine, frames[i].at, frames[i].length, segments);
	gw_pipeline_run(engine->worker[worker], 0, mbufs, count);
	gw_tx_flush(engine->worker[worker]);
}

static uint8_t verdict(const struct gw_engine *engine, uint16_t worker)
{
	return engine->worker[worker]->burst.result[0].verdict;
}

/* Inner ids and offset fields of what has left, as id << 16 | field; frees it. */
static uint16_t sent(struct gw_engine *engine, uint32_t *what)
{
	struct rte_mbuf *mbufs[64];
	uint16_t count = rte_eth_rx_burst(engine->port[0].ethdev, 0, mbufs, 64);

	for (uint16_t i = 0; i < count; i++) {
		uint8_t header[54];

		memcpy(header, rte_pktmbuf_read(mbufs[i], 0, 54, header), 54);
		what[i] = gw_wire_load32(header + 34 + 4);
		CU_ASSERT_EQUAL(mbufs[i]->ol_flags, 0);
		CU_ASSERT_EQUAL(mbufs[i]->tx_offload, 0);
	}
	rte_pktmbuf_free_bulk(mbufs, count);
	return count;
}

/* rx = tx + … + held + drops, summed over all workers. */
static struct gw_counters sum(const struct gw_engine *engine)
{
	struct gw_counters all = {};
	uint64_t ends;

	for (uint16_t w = 0; w < engine->worker_count; w++) {
		const uint64_t *from = (const uint64_t *)&engine->worker[w]->stats.counters;

		for (size_t i = 0; i < sizeof(all) / 8; i++)
			((uint64_t *)&all)[i] += from[i];
	}
	ends = all.tx + all.to_host + all.replied + all.consumed + all.held;
	for (int i = 0; i < GW_DROP_MAX; i++)
		ends += all.drops[i];
	CU_ASSERT_EQUAL(all.rx, ends);
	return all;
}

/* The table -------------------------------------------------------------------------------- */

static struct gw_fragment_key key_of(uint32_t id)
{
	return (struct gw_fragment_key){.source = image_address("198.51.100.7"),
		.destination = image_address("203.0.113.10"),
		.id = id,
		.protocol = 17};
}

static void a_decision_is_found_until_it_expires(void)
{
	struct gw_engine *engine = start(1);
	struct gw_fragment_table *table = &engine->fragments;
	struct gw_fragment_key key = key_of(7), other = key_of(8);
	struct gw_fragment_decision in = {.hash = 5, .expires_ns = 100, .service = 3, .backend = 9};
	struct gw_fragment_decision out = {};

	CU_ASSERT_FALSE(gw_fragment_find(table, &key, 0, &out));
	gw_fragment_remember(table, &key, &in);
	CU_ASSERT(gw_fragment_find(table, &key, 99, &out));
	CU_ASSERT(out.hash == 5 && out.service == 3 && out.backend == 9 && out.expires_ns == 100);
	CU_ASSERT_FALSE(gw_fragment_find(table, &key, 100, &out));
	CU_ASSERT_FALSE(gw_fragment_find(table, &other, 99, &out));
	other = key;
	other.protocol = 6;
	CU_ASSERT_FALSE(gw_fragment_find(table, &other, 99, &out));
	in.backend = 10;
	in.expires_ns = 200;
	gw_fragment_remember(table, &key, &in);
	CU_ASSERT(gw_fragment_find(table, &key, 150, &out));
	CU_ASSERT_EQUAL(out.backend, 10);
	gw_fragment_forget(table, &key);
	CU_ASSERT_FALSE(gw_fragment_find(table, &key, 150, &out));
	harness_stop(engine);
}

static void a_full_table_gives_up_its_oldest_decisions(void)
{
	struct gw_engine *engine = start(1);
	struct gw_fragment_table *table = &engine->fragments;
	struct gw_fragment_decision in = {.service = 1}, out;
	uint32_t many = 4 * GW_FRAGMENT_DECISIONS, found = 0, latest = 0;

	for (uint32_t id = 1; id <= many; id++) {
		struct gw_fragment_key key = key_of(id);

		in.expires_ns = in.hash = id;
		gw_fragment_remember(table, &key, &in);
		CU_ASSERT(gw_fragment_find(table, &key, 0, &out) && out.hash == id);
	}
	for (uint32_t id = 1; id <= many; id++) {
		struct gw_fragment_key key = key_of(id);
		bool known = gw_fragment_find(table, &key, 0, &out);

		found += known;
		latest += known && id > many - GW_FRAGMENT_DECISIONS / 4;
	}
	CU_ASSERT(found > GW_FRAGMENT_DECISIONS / 100 * 99);
	/* A quarter of the table's room, chosen at random, nearly always has room in its set. */
	CU_ASSERT(latest > GW_FRAGMENT_DECISIONS / 4 * 98 / 100);
	harness_stop(engine);
}

/* Writers whose decisions can be told from torn ones: hash, service and backend say the same. */
static void *write_decisions(void *arg)
{
	struct gw_fragment_table *table = arg;

	for (uint32_t i = 1; i <= 200000; i++) {
		struct gw_fragment_key key = key_of(i % 16);
		struct gw_fragment_decision in = {
			.hash = i, .expires_ns = i, .service = i, .backend = i & 0xffff};

		gw_fragment_remember(table, &key, &in);
		if (i % 7 == 0)
			gw_fragment_forget(table, &key);
	}
	return NULL;
}

static void readers_never_see_half_a_decision(void)
{
	struct gw_engine *engine = start(1);
	pthread_t writers[2];
	uint32_t torn = 0;

	for (int i = 0; i < 2; i++)
		pthread_create(&writers[i], NULL, write_decisions, &engine->fragments);
	for (uint32_t i = 0; i < 200000; i++) {
		struct gw_fragment_key key = key_of(i % 16);
		struct gw_fragment_decision out;

		if (gw_fragment_find(&engine->fragments, &key, 0, &out))
			torn += out.hash != out.service || out.hash != out.expires_ns ||
				out.backend != (out.hash & 0xffff) || out.hash % 16 != i % 16;
	}
	for (int i = 0; i < 2; i++)
		pthread_join(writers[i], NULL);
	CU_ASSERT_EQUAL(torn, 0);
	harness_stop(engine);
}

/* Held ------------------------------------------------------------------------------------- */

static void held_fragments_are_a_gauge_until_their_first_comes(void)
{
	struct gw_engine *engine = start(1);
	struct bytes first = first_of(7), later = later_of(7);
	uint32_t out[64];

	for (uint64_t i = 1; i <= 3; i++) {
		run(engine, 0, &later, 1, 1);
		CU_ASSERT_EQUAL(verdict(engine, 0), GW_VERDICT_HELD);
		CU_ASSERT_EQUAL(sum(engine).held, i);
	}
	CU_ASSERT_EQUAL(sent(engine, out), 0);
	run(engine, 0, &first, 1, 1);
	CU_ASSERT_EQUAL(sum(engine).held, 0);
	CU_ASSERT_EQUAL(sum(engine).tx, 4);
	CU_ASSERT_EQUAL(sum(engine).rx, 4);
	CU_ASSERT_EQUAL(gw_service_traffic_read(engine->worker[0], 0).packets, 4);
	CU_ASSERT_EQUAL(sent(engine, out), 4);
	CU_ASSERT_EQUAL(out[0], 7u << 16 | GW_IPV4_MF);
	CU_ASSERT_EQUAL(out[1], 7u << 16 | 8);
	harness_stop(engine);
}

static void one_burst_keeps_the_order_of_later_fragments(void)
{
	struct gw_engine *engine = start(1);
	struct bytes burst[] = {fragment_of(7, 16, 64), fragment_of(7, 24, 64), first_of(7),
		fragment_of(7, 8, 64), first_of(9)};
	uint32_t out[64];

	run(engine, 0, burst, 5, 1);
	CU_ASSERT_EQUAL(sum(engine).tx, 5);
	CU_ASSERT_EQUAL_FATAL(sent(engine, out), 5);
	CU_ASSERT_EQUAL(out[0], 7u << 16 | GW_IPV4_MF);
	CU_ASSERT_EQUAL(out[1], 9u << 16 | GW_IPV4_MF);
	CU_ASSERT_EQUAL(out[2], 7u << 16 | 16);
	CU_ASSERT_EQUAL(out[3], 7u << 16 | 24);
	CU_ASSERT_EQUAL(out[4], 7u << 16 | 8);
	harness_stop(engine);
}

static void a_first_on_another_worker_frees_what_is_held_here(void)
{
	struct gw_engine *engine = start(2);
	struct bytes first = first_of(7), later = later_of(7);
	struct gw_worker *holder = engine->worker[0];
	uint64_t hash;
	uint32_t out[64];

	engine->port[0].tx_queues = 1;
	engine->worker[1]->tx[0].queue = 0;
	holder->now_ns = engine->worker[1]->now_ns = 1000 * MS;
	run(engine, 0, &later, 1, 1);
	run(engine, 1, &first, 1, 1);
	hash = engine->worker[1]->burst.result[0].hash;
	CU_ASSERT_EQUAL(sum(engine).held, 1);
	CU_ASSERT_EQUAL(gw_fragment_poll(holder), 1);
	gw_tx_flush(holder);
	CU_ASSERT_EQUAL(holder->hold->burst.result[0].hash, hash);
	CU_ASSERT_EQUAL(sum(engine).held, 0);
	CU_ASSERT_EQUAL(sum(engine).tx, 2);
	CU_ASSERT_EQUAL(sent(engine, out), 2);
	/* And from now on the decision is known here as well. */
	run(engine, 0, &later, 1, 1);
	CU_ASSERT_EQUAL(verdict(engine, 0), GW_VERDICT_TX);
	sent(engine, out);
	harness_stop(engine);
}

static void held_fragments_expire(void)
{
	struct gw_engine *engine = start(1);
	struct gw_worker *worker = engine->worker[0];
	struct bytes later = later_of(7), other = later_of(8);

	worker->now_ns = 1000 * MS;
	run(engine, 0, &later, 1, 1);
	worker->now_ns = 2000 * MS;
	run(engine, 0, &other, 1, 1);
	worker->now_ns = 3000 * MS - 1;
	CU_ASSERT_EQUAL(gw_fragment_poll(worker), 0);
	worker->now_ns = 3000 * MS;
	CU_ASSERT_EQUAL(gw_fragment_poll(worker), 1);
	CU_ASSERT_EQUAL(sum(engine).held, 1);
	CU_ASSERT_EQUAL(sum(engine).drops[GW_DROP_FRAG_EXPIRED], 1);
	worker->now_ns = 9000 * MS;
	CU_ASSERT_EQUAL(gw_fragment_poll(worker), 1);
	CU_ASSERT_EQUAL(sum(engine).drops[GW_DROP_FRAG_EXPIRED], 2);
	harness_stop(engine);
}

static void what_is_held_is_bounded(void)
{
	struct gw_engine *engine = start(1);
	struct gw_hold *hold = engine->worker[0]->hold;
	struct bytes first = first_of(3), later;
	uint32_t out[64];

	/* The harness has 2,047 buffers: an eighth of them, under the 256 that there is room for.
	 */
	CU_ASSERT_EQUAL(hold->room, 2047 / 8);
	for (uint16_t i = 0; i < 300; i++) {
		later = later_of(i);
		run(engine, 0, &later, 1, 1);
	}
	CU_ASSERT_EQUAL(sum(engine).held, hold->room);
	CU_ASSERT_EQUAL(sum(engine).drops[GW_DROP_FRAG_FULL], 300u - hold->room);
	/* One goes: there is room for one more. */
	run(engine, 0, &first, 1, 1);
	CU_ASSERT_EQUAL(sent(engine, out), 2);
	later = later_of(400);
	run(engine, 0, &later, 1, 1);
	CU_ASSERT_EQUAL(verdict(engine, 0), GW_VERDICT_HELD);
	harness_stop(engine);
}

static void a_datagram_never_goes_to_a_backend_taken_out(void)
{
	struct gw_engine *engine = start(1);
	struct gw_worker *worker = engine->worker[0];
	struct bytes first = first_of(7), later = later_of(7);
	uint32_t backend, out[64];

	run(engine, 0, &first, 1, 1);
	backend = worker->burst.result[0].backend;
	for (uint8_t state = GW_BACKEND_FREE; state <= GW_BACKEND_DISABLED; state++) {
		bool follows = state != GW_BACKEND_FREE && state != GW_BACKEND_DISABLED;

		/* A pool's table names no backend that is not there. */
		members[backend] = state == GW_BACKEND_FREE ? !backend : backend;
		backends[backend].state = state;
		spec.version++;
		harness_load(engine, &spec);
		run(engine, 0, &later, 1, 1);
		CU_ASSERT_EQUAL(sum(engine).held, !follows);
		if (state == GW_BACKEND_DRAIN)
			CU_ASSERT_EQUAL(worker->burst.result[0].backend, backend);
	}
	sent(engine, out);
	harness_stop(engine);
}

static void fragments_in_chains_split_anywhere(void)
{
	struct gw_engine *engine = start(1);
	uint32_t out[64];

	for (unsigned int segments = 2; segments <= 40; segments++) {
		struct bytes first = first_of((uint16_t)segments);
		struct bytes later = later_of((uint16_t)segments);

		run(engine, 0, &later, 1, segments);
		CU_ASSERT_EQUAL(verdict(engine, 0), GW_VERDICT_HELD);
		run(engine, 0, &first, 1, segments);
		CU_ASSERT_EQUAL_FATAL(sent(engine, out), 2);
		CU_ASSERT_EQUAL(out[0], segments << 16 | GW_IPV4_MF);
		CU_ASSERT_EQUAL(out[1], segments << 16 | 8);
	}
	sum(engine);
	harness_stop(engine);
}

static void a_held_fragment_without_headroom_is_counted(void)
{
	struct gw_engine *engine = start(1);
	struct bytes first = first_of(7), later = later_of(7);
	struct rte_mbuf *mbuf = harness_frame(engine, later.at, later.length, 1);
	uint32_t out[64];

	memmove(mbuf->buf_addr, rte_pktmbuf_mtod(mbuf, void *), later.length);
	mbuf->data_off = 0;
	mbuf->ol_flags = RTE_MBUF_F_RX_IP_CKSUM_BAD | RTE_MBUF_F_TX_IP_CKSUM;
	gw_pipeline_run(engine->worker[0], 0, &mbuf, 1);
	run(engine, 0, &first, 1, 1);
	CU_ASSERT_EQUAL(sent(engine, out), 1);
	CU_ASSERT_EQUAL(sum(engine).drops[GW_DROP_NO_HEADROOM], 1);
	CU_ASSERT_EQUAL(sum(engine).held, 0);
	harness_stop(engine);
}

/* Cut -------------------------------------------------------------------------------------- */

static uint16_t folded(const uint8_t *at, size_t length)
{
	uint32_t total = 0;

	for (size_t i = 0; i < length; i += 2)
		total += gw_wire_load16(at + i);
	while (total >> 16)
		total = (total & 0xffff) + (total >> 16);
	return (uint16_t)total;
}

/* Puts the pieces together again; checks headers on the way. Returns the payload's length. */
static size_t reassemble(struct gw_engine *engine, uint8_t *payload, uint32_t mtu)
{
	struct rte_mbuf *mbufs[64];
	uint16_t count = rte_eth_rx_burst(engine->port[0].ethdev, 0, mbufs, 64);
	size_t total = 0;

	for (uint16_t i = 0; i < count; i++) {
		uint8_t frame[9200];
		uint32_t length = mbufs[i]->pkt_len, inner, at;
		const uint8_t *bytes = rte_pktmbuf_read(mbufs[i], 0, length, frame);

		memmove(frame, bytes, length);
		inner = gw_wire_load16(frame + 36);
		at = (gw_wire_load16(frame + 40) & GW_IPV4_OFFSET) * 8u;
		CU_ASSERT_EQUAL(length, 14 + 20 + inner);
		CU_ASSERT(20 + inner <= mtu);
		CU_ASSERT_EQUAL(folded(frame + 14, 20), 0xffff);
		CU_ASSERT_EQUAL(folded(frame + 34, 20), 0xffff);
		CU_ASSERT_EQUAL(mbufs[i]->ol_flags, 0);
		CU_ASSERT_EQUAL(!!(gw_wire_load16(frame + 40) & GW_IPV4_MF), i + 1 < count);
		CU_ASSERT(i + 1 == count || (inner - 20) % 8 == 0);
		memcpy(payload + at, frame + 54, inner - 20);
		total += inner - 20;
	}
	rte_pktmbuf_free_bulk(mbufs, count);
	return total;
}

static struct bytes whole_of(size_t payload)
{
	struct bytes made = fragment_of(7, 0, payload);

	for (size_t i = 8; i < payload; i++)
		made.at[34 + i] = (uint8_t)(i * 31 >> 3);
	gw_wire_store16(made.at + 24, (uint16_t)~folded(made.at + 14, 20));
	return made;
}

static void a_packet_too_big_leaves_in_pieces(void)
{
	static const uint32_t mtus[] = {100, 576, 1280, 1500, 4000};
	struct gw_engine *engine = start(1);
	uint64_t packets = 0;

	for (size_t m = 0; m < sizeof(mtus) / sizeof(mtus[0]); m++) {
		for (size_t payload = mtus[m]; payload < mtus[m] * 4 && payload < 9000;
			payload += 61) {
			struct bytes frame = whole_of(payload);
			uint8_t got[9100];

			engine->port[0].mtu = (uint16_t)mtus[m];
			run(engine, 0, &frame, 1, 1 + (unsigned int)(payload / 1500));
			packets++;
			CU_ASSERT_EQUAL(verdict(engine, 0), GW_VERDICT_TX);
			CU_ASSERT_EQUAL(reassemble(engine, got, mtus[m]), payload);
			CU_ASSERT_EQUAL(memcmp(got, frame.at + 34, payload), 0);
		}
	}
	CU_ASSERT_EQUAL(sum(engine).tx, packets);
	CU_ASSERT_EQUAL(sum(engine).rx, packets);
	harness_stop(engine);
}

static void a_burst_of_packets_too_big(void)
{
	struct gw_engine *engine = start(1);
	struct bytes burst[20];
	uint32_t out[64];

	for (int i = 0; i < 20; i++)
		burst[i] = fragment_of((uint16_t)(100 + i), 0, 2000);
	run(engine, 0, burst, 20, 1);
	CU_ASSERT_EQUAL(sum(engine).tx, 20);
	CU_ASSERT_EQUAL_FATAL(sent(engine, out), 40);
	for (uint32_t i = 0; i < 20; i++) {
		CU_ASSERT_EQUAL(out[2 * i], (100 + i) << 16 | GW_IPV4_MF);
		CU_ASSERT_EQUAL(out[2 * i + 1], (100 + i) << 16 | 1456 / 8);
	}
	harness_stop(engine);
}

static void without_buffers_nothing_leaks(void)
{
	struct gw_engine *engine = start(1);
	struct bytes frame = whole_of(8000);
	struct rte_mbuf *mbuf = harness_frame(engine, frame.at, frame.length, 5);
	static struct rte_mbuf *taken[2048];
	unsigned int left = rte_mempool_avail_count(engine->pool) - 3, out[64];

	CU_ASSERT_EQUAL_FATAL(rte_pktmbuf_alloc_bulk(engine->pool, taken, left), 0);
	gw_pipeline_run(engine->worker[0], 0, &mbuf, 1);
	gw_tx_flush(engine->worker[0]);
	CU_ASSERT_EQUAL(sent(engine, out), 0);
	CU_ASSERT_EQUAL(sum(engine).drops[GW_DROP_FRAG_FULL], 1);
	rte_pktmbuf_free_bulk(taken, left);
	harness_stop(engine);
}

static void what_no_piece_fits_into_is_too_big(void)
{
	struct gw_engine *engine = start(1);
	struct bytes frame = whole_of(200), last;
	uint32_t out[64];

	engine->port[0].mtu = 20 + 20 + 7;
	run(engine, 0, &frame, 1, 1);
	CU_ASSERT_EQUAL(sum(engine).drops[GW_DROP_TOO_BIG], 1);
	engine->port[0].mtu = 20 + 20 + 8;
	run(engine, 0, &frame, 1, 1);
	CU_ASSERT_EQUAL(sent(engine, out), 25);
	/* An offset that the pieces' field could not say. */
	last = first_of(7);
	run(engine, 0, &last, 1, 1);
	sent(engine, out);
	last = fragment_of(7, GW_IPV4_OFFSET, 64);
	run(engine, 0, &last, 1, 1);
	CU_ASSERT_EQUAL(sum(engine).drops[GW_DROP_TOO_BIG], 2);
	harness_stop(engine);
}

static const struct gw_test tests[] = {
	GW_TEST(a_decision_is_found_until_it_expires),
	GW_TEST(a_full_table_gives_up_its_oldest_decisions),
	GW_TEST(readers_never_see_half_a_decision),
	GW_TEST(held_fragments_are_a_gauge_until_their_first_comes),
	GW_TEST(one_burst_keeps_the_order_of_later_fragments),
	GW_TEST(a_first_on_another_worker_frees_what_is_held_here),
	GW_TEST(held_fragments_expire),
	GW_TEST(what_is_held_is_bounded),
	GW_TEST(a_datagram_never_goes_to_a_backend_taken_out),
	GW_TEST(fragments_in_chains_split_anywhere),
	GW_TEST(a_held_fragment_without_headroom_is_counted),
	GW_TEST(a_packet_too_big_leaves_in_pieces),
	GW_TEST(a_burst_of_packets_too_big),
	GW_TEST(without_buffers_nothing_leaks),
	GW_TEST(what_no_piece_fits_into_is_too_big),
};

GW_SUITE("dp_fragment", tests)
