/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A worker's memory of services: it never gives an address and port another service than theirs,
 * knows what it has met, among many services too, and forgets when services change, and only then.
 */
#include "dataplane/service_seen.h"
#include "dp_harness.h"
#include "frames.h"
#include "suite.h"

#include <rte_ethdev.h>

#include <stdlib.h>
#include <string.h>

/* The memory by itself ---------------------------------------------------------------------- */

static struct gw_worker worker;

static void memory_start(uint32_t span_count)
{
	worker.service_seen = calloc(GW_SERVICE_SEEN_MAX, sizeof(*worker.service_seen));
	worker.flow_secrets = gw_flow_secrets(0x123456789abcdef);
	gw_service_seen_forget(&worker, span_count);
}

/* Every second one over IPv6; every fifth a port of the address before it. */
static struct gw_flow_key key_to(uint32_t n)
{
	struct gw_flow_key key = {.protocol = n % 3 ? GW_PROTO_TCP : GW_PROTO_UDP,
		.source_port = GW_HTONS(n % 7),
		.destination_port = GW_HTONS(n % 5 ? 443 : 80)};

	key.source.bytes[15] = (uint8_t)n;
	n -= n % 5 ? 0 : 1;
	if (n % 2)
		key.destination = image_address("2001:db8:113::");
	else
		key.destination.bytes[10] = key.destination.bytes[11] = 0xff;
	key.destination.bytes[13] = (uint8_t)(n >> 16);
	key.destination.bytes[14] = (uint8_t)(n >> 8);
	key.destination.bytes[15] = (uint8_t)n;
	return key;
}

static uint32_t seen(const struct gw_flow_key *key)
{
	uint64_t word[GW_KEY_WORDS];
	uint64_t name;
	uint32_t found, first;

	memcpy(word, key, sizeof(word));
	name = gw_service_name(&worker.flow_secrets,
		gw_address_is_ipv4(&key->destination) ? GW_IPV4 : GW_IPV6, word);
	found = gw_service_seen_find(
		worker.service_seen, worker.service_seen_mask, worker.service_seen_epoch, name);
	first = gw_service_seen_find_first(
		worker.service_seen, worker.service_seen_mask, worker.service_seen_epoch, name);
	CU_ASSERT_EQUAL(found, first);
	return found;
}

/* Puts `count` services in; returns how many of them are found afterwards. */
static uint32_t fill(uint32_t count)
{
	uint32_t right = 0;

	for (uint32_t n = 1; n <= count; n++) {
		struct gw_flow_key key = key_to(n);

		gw_service_seen_put(&worker, &key, n);
	}
	for (uint32_t n = 1; n <= 2 * count; n++) {
		struct gw_flow_key key = key_to(n);
		uint32_t service = seen(&key);

		CU_ASSERT(service == GW_NONE || (n <= count && service == n));
		right += service == n;
	}
	return right;
}

static void every_number_of_services_fits_the_memory(void)
{
	static const uint32_t counts[] = {1, 256, 257, 2560, 2561, 10000, 10240, 40960, 65536};

	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		uint32_t right;

		memory_start(counts[i]);
		right = fill(counts[i]);
		/* Two full buckets in a row, and a third: one name in some thousands. */
		CU_ASSERT(right >= counts[i] - counts[i] / 1000);
		free(worker.service_seen);
	}
}

static void services_are_forgotten_when_they_change(void)
{
	memory_start(10000);
	CU_ASSERT(fill(10000) > 9980);
	gw_service_seen_forget(&worker, 10000);
	for (uint32_t n = 1; n <= 10000; n++) {
		struct gw_flow_key key = key_to(n);

		CU_ASSERT_EQUAL(seen(&key), GW_NONE);
	}
	/* And others take their places. */
	CU_ASSERT(fill(10000) > 9980);
	free(worker.service_seen);
}

static void a_service_that_is_met_again_is_as_it_was_met_last(void)
{
	struct gw_flow_key key = key_to(8), other = key_to(9);

	memory_start(1);
	gw_service_seen_put(&worker, &key, 1);
	gw_service_seen_put(&worker, &other, 3);
	gw_service_seen_put(&worker, &key, 2);
	CU_ASSERT_EQUAL(seen(&key), 2);
	CU_ASSERT_EQUAL(seen(&other), 3);
	free(worker.service_seen);
}

static void all_of_a_name_counts(void)
{
	for (uint32_t n = 8; n < 10; n++) {
		struct gw_flow_key key = key_to(n), other;

		memory_start(1);
		worker.service_seen_mask = 0; /* all in one bucket */
		gw_service_seen_put(&worker, &key, 5);
		/* But for the zeros behind the protocol. */
		for (size_t bit = 0; bit < (offsetof(struct gw_flow_key, protocol) + 1) * 8;
			bit++) {
			size_t byte = bit / 8;
			bool named = byte >= offsetof(struct gw_flow_key, destination) &&
				     byte != offsetof(struct gw_flow_key, source_port) &&
				     byte != offsetof(struct gw_flow_key, source_port) + 1;

			other = key;
			((uint8_t *)&other)[byte] ^= (uint8_t)(1 << bit % 8);
			CU_ASSERT_EQUAL(seen(&other), named ? GW_NONE : 5);
		}
		free(worker.service_seen);
	}
}

static void sctp_is_not_remembered(void)
{
	struct gw_flow_key key = key_to(8);

	memory_start(1);
	key.protocol = 132; /* SCTP goes the long road */
	gw_service_seen_put(&worker, &key, 5);
	CU_ASSERT_EQUAL(seen(&key), GW_NONE);
	free(worker.service_seen);
}

/* In the pipeline --------------------------------------------------------------------------- */

#define MANY 600 /* service addresses of each family */

struct world {
	struct gw_vip vip[2 * MANY];
	struct gw_span span[2 * MANY];
	struct gw_service service[2 * MANY];
	struct image_spec spec;
};

/* Service n is TCP 80 on 203.1.x.y, MANY + n is UDP 443 on 2001:db8:113::x:y. */
static void world_make(struct world *world, uint32_t many)
{
	static const uint32_t members[] = {0};
	static const struct image_pool pool = {
		.table_size = 65537, .members = members, .member_count = 1, .digest = 1};
	static struct gw_backend backend;
	static struct gw_next_hop hop;
	static uint64_t version;

	*world = (struct world){};
	backend = image_backend(0, 0, "10.0.0.16", "10.0.0.101");
	hop = image_next_hop("10.0.0.1");
	for (uint32_t n = 0; n < 2 * many; n++) {
		uint32_t i = n % many;
		bool six = n >= many;

		world->vip[n] = image_vip(six ? "2001:db8:113::" : "203.1.0.0", 128);
		world->vip[n].address.bytes[14] = (uint8_t)(i >> 8);
		world->vip[n].address.bytes[15] = (uint8_t)i;
		*(six ? &world->vip[n].udp : &world->vip[n].tcp) = (struct gw_span_run){n, 1};
		world->span[n] = (struct gw_span){six ? 443 : 80, six ? 443 : 80, n};
	}
	world->spec = (struct image_spec){.version = version += 10,
		.pools = &pool,
		.pool_count = 1,
		.services = world->service,
		.service_count = 2 * many,
		.vips = world->vip,
		.vip_count = 2 * many,
		.spans = world->span,
		.span_count = 2 * many,
		.backends = &backend,
		.backend_count = 1,
		.next_hops = &hop,
		.next_hop_count = 1};
}

static struct frame frame_to(uint32_t n, uint32_t many)
{
	bool six = n >= many;
	struct frame frame = six ? frame_v6() : frame_v4();
	uint32_t i = n % many, at = six ? 38 : 30;

	memcpy(frame.bytes + at,
		image_address(six ? "2001:db8:113::" : "203.1.0.0").bytes + (six ? 0 : 12),
		six ? 16 : 4);
	frame.bytes[at + (six ? 14 : 2)] = (uint8_t)(i >> 8);
	frame.bytes[at + (six ? 15 : 3)] = (uint8_t)i;
	return frame;
}

/* A burst of 64 frames; what became of them stands in the worker's burst. */
static struct gw_burst *burst_run(struct gw_engine *engine, const struct frame *frames)
{
	struct gw_worker *at = engine->worker[0];
	struct rte_mbuf *mbufs[GW_BURST_MAX];
	uint16_t count;

	for (int i = 0; i < GW_BURST_MAX; i++)
		mbufs[i] = harness_frame(engine, frames[i].bytes, frames[i].length, 1);
	gw_pipeline_run(at, 0, mbufs, GW_BURST_MAX);
	gw_tx_flush(at);
	count = rte_eth_rx_burst(engine->port[0].ethdev, 0, mbufs, GW_BURST_MAX);
	rte_pktmbuf_free_bulk(mbufs, count);
	while (rte_ring_dequeue(at->to_host, (void **)mbufs) == 0)
		rte_pktmbuf_free(mbufs[0]);
	return &at->burst;
}

/* A burst to services, but for place 5, no service, 6, an echo request, and 7, the host. */
static void mixed_burst_is_right(uint32_t many, bool some_untracked)
{
	static struct world world;
	static struct frame frames[GW_BURST_MAX];
	struct gw_engine *engine = harness_start(1024, 1);
	const uint64_t odd = 7 << 5;

	world_make(&world, many);
	for (uint32_t n = 0; some_untracked && n < 2 * many; n += 3)
		world.service[n].flags = GW_SERVICE_UNTRACKED;
	harness_load(engine, &world.spec);
	CU_ASSERT_EQUAL(many > GW_SERVICE_SEEN_FEW, many == MANY);
	for (int round = 0; round < 3; round++) {
		const struct gw_burst *burst;

		for (uint32_t i = 0; i < GW_BURST_MAX; i++)
			frames[i] = frame_to(i * 977 % (2 * many), many);
		frames[5] = frame_to(5, many);
		frames[5].bytes[37] = 81;
		frames[6] = frame_to(6, many);
		frames[6].bytes[23] = GW_PROTO_ICMP;
		frames[7] = frame_v4();
		burst = burst_run(engine, frames);
		CU_ASSERT_EQUAL(burst->common, round ? ~odd : 0);
		for (uint32_t i = 0; i < GW_BURST_MAX; i++) {
			const struct gw_result *result = &burst->result[i];

			if (odd >> i & 1)
				continue;
			CU_ASSERT_EQUAL(result->verdict, GW_VERDICT_TX);
			CU_ASSERT_EQUAL(result->service, i * 977 % (2 * many));
			CU_ASSERT_EQUAL(result->backend, 0);
			CU_ASSERT_EQUAL(burst->untracked >> i & 1,
				some_untracked && result->service % 3 == 0);
		}
		CU_ASSERT_EQUAL(burst->result[5].verdict, GW_VERDICT_DROP);
		CU_ASSERT_EQUAL(burst->result[5].reason, GW_DROP_NO_SERVICE);
		CU_ASSERT(burst->result[6].service == GW_NONE);
		CU_ASSERT_EQUAL(burst->result[7].verdict, GW_VERDICT_HOST);
	}
	harness_stop(engine);
}

static void a_burst_to_few_services_and_others_is_told_apart(void)
{
	mixed_burst_is_right(40, false);
	mixed_burst_is_right(40, true);
}

static void a_burst_to_many_services_and_others_is_told_apart(void)
{
	mixed_burst_is_right(MANY, false);
	mixed_burst_is_right(MANY, true);
}

static bool is_known(struct gw_engine *engine, uint32_t n, uint32_t many, uint32_t service)
{
	struct frame frame = frame_to(n, many);
	struct gw_result result = harness_run(
		engine, harness_frame(engine, frame.bytes, frame.length, 1), NULL, NULL);

	CU_ASSERT_EQUAL(result.service, service);
	return engine->worker[0]->burst.common;
}

static void services_stay_known_while_other_things_change(void)
{
	static struct world world;
	struct gw_engine *engine = harness_start(1024, 1);

	for (uint32_t many = 2; many <= MANY; many += MANY - 2) {
		world_make(&world, many);
		harness_load(engine, &world.spec);
		CU_ASSERT_FALSE(is_known(engine, 1, many, 1));
		CU_ASSERT(is_known(engine, 1, many, 1));
		/* A backend's drain, a table: nothing about services. */
		world.spec.version++;
		harness_load(engine, &world.spec);
		CU_ASSERT(is_known(engine, 1, many, 1));
		/* The port leads elsewhere. */
		world.span[1].service = 0;
		world.spec.version++;
		harness_load(engine, &world.spec);
		CU_ASSERT_FALSE(is_known(engine, 1, many, 0));
		CU_ASSERT(is_known(engine, 1, many, 0));
		/* The address has it for every port. */
		world.vip[1].any_service = 1;
		world.vip[1].tcp.count = 0;
		world.spec.version++;
		harness_load(engine, &world.spec);
		CU_ASSERT_FALSE(is_known(engine, 1, many, 1));
		CU_ASSERT(is_known(engine, 1, many, 1));
	}
	harness_stop(engine);
}

static const struct gw_test tests[] = {
	GW_TEST(every_number_of_services_fits_the_memory),
	GW_TEST(services_are_forgotten_when_they_change),
	GW_TEST(a_service_that_is_met_again_is_as_it_was_met_last),
	GW_TEST(all_of_a_name_counts),
	GW_TEST(sctp_is_not_remembered),
	GW_TEST(a_burst_to_few_services_and_others_is_told_apart),
	GW_TEST(a_burst_to_many_services_and_others_is_told_apart),
	GW_TEST(services_stay_known_while_other_things_change),
};

GW_SUITE("dp_services", tests)
