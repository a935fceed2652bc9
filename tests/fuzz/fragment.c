/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any fragments in any order and at any time through a worker's whole pipeline, by two workers that
 * share the table: nothing may leak, everything held must end, the counters must add up at every
 * moment. An input is a list of steps: worker, time that passes, then a frame (its length, and
 * bytes that are written over a good fragment's headers).
 */
#include "dataplane/fragment.h"

#include "dataplane/engine.h"
#include "dataplane/snapshot.h"
#include "unit/dp_image.h"

#include <rte_eal.h>
#include <rte_ethdev.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUFFERS 1023
#define WORKERS 2

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct gw_engine *engine;

static void require(bool holds)
{
	if (!holds)
		abort();
}

/* A service of every protocol, and one whose rest is the host's; egress of 1,280 bytes. */
static void load(void)
{
	static struct gw_message_snapshot_reply reply;
	static const uint32_t members[] = {0, 1};
	const struct image_pool pool = {
		.table_size = 251, .members = members, .member_count = 2, .digest = 1};
	const struct gw_service service = {.pool = 0};
	struct gw_vip vips[] = {image_vip("203.0.113.10", 128), image_vip("2001:db8::10", 128),
		image_vip("203.0.113.11", 128)};
	struct gw_backend backends[] = {image_backend(0, 0, "10.82.0.11", "10.82.0.101"),
		image_backend(0, 0, "10.82.0.11", "10.82.0.102")};
	const struct gw_next_hop hop = image_next_hop("10.82.0.101");
	const struct image_spec spec = {.version = 1,
		.pools = &pool,
		.pool_count = 1,
		.services = &service,
		.service_count = 1,
		.vips = vips,
		.vip_count = 3,
		.backends = backends,
		.backend_count = 2,
		.next_hops = &hop,
		.next_hop_count = 1};
	struct gw_snapshot_header *image;

	vips[0].any_service = vips[1].any_service = 0;
	vips[2].flags = GW_VIP_NO_SERVICE_HOST;
	image = image_make(&spec);
	gw_snapshot_load_image(engine, image, image->total_size, &reply);
	require(reply.result == GW_SNAPSHOT_IN_FORCE);
	free(image);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	static char words[][32] = {"fuzz", "--no-huge", "--no-shconf", "--no-pci", "--no-telemetry",
		"-m", "128", "-l", "0", "--log-level", "error", "--vdev", "net_null0"};
	static const uint32_t cpus[WORKERS];
	const struct gw_engine_options options = {
		.flows = 1024, .worker_count = WORKERS, .cpus = cpus, .busy_poll = true};
	const struct gw_port_spec port = {.name = "net_null0"};
	char *eal[sizeof(words) / sizeof(words[0])];

	(void)argc, (void)argv;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		eal[i] = words[i];
	if (rte_eal_init(sizeof(words) / sizeof(words[0]), eal) < 0 ||
		gw_engine_create(&engine, &options) != 0)
		goto fail;
	engine->pool = rte_pktmbuf_pool_create(
		"fuzz", BUFFERS, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
	if (!engine->pool || gw_port_open(&engine->port[0], &port, 0, 1, engine->pool) != 0 ||
		gw_port_start(&engine->port[0]) != 0)
		goto fail;
	engine->port[0].any_mac = true;
	engine->port[0].mtu = 1280;
	engine->port_count = 1;
	gw_engine_connect(engine);
	engine->worker[1]->tx[0].queue = 0;
	load();
	return 0;

fail:
	fprintf(stderr, "fuzz_fragment: the engine does not start\n");
	exit(1);
}

static void check_counters(const struct gw_worker *worker)
{
	const struct gw_counters *c = &worker->stats.counters;
	uint64_t sum = c->tx + c->to_host + c->replied + c->consumed + c->held;

	for (int i = 0; i < GW_DROP_MAX; i++)
		sum += c->drops[i];
	require(sum == c->rx && c->held == worker->hold->count);
	require(worker->hold->count <= worker->hold->room);
}

static void drain(struct gw_worker *worker)
{
	struct rte_mbuf *mbuf;

	gw_tx_flush(worker);
	while (rte_ring_sc_dequeue(worker->to_host, (void **)&mbuf) == 0)
		rte_pktmbuf_free(mbuf);
	check_counters(worker);
}

/* A frame of `length` bytes in buffers of `step` bytes, whose headers begin with `bytes`. */
static struct rte_mbuf *make(const uint8_t *bytes, size_t count, size_t length, size_t step)
{
	static const uint8_t good[] = {2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 9, 8, 0, 0x45, 0, 0, 0, 0,
		7, 0x20, 0, 64, 17, 0, 0, 198, 51, 100, 7, 203, 0, 113, 10, 0x10, 0, 0, 53};
	static uint8_t frame[6000];
	struct rte_mbuf *first = NULL;

	memset(frame, 0, sizeof(frame));
	memcpy(frame, good, sizeof(good));
	frame[16] = (uint8_t)((length - 14) >> 8);
	frame[17] = (uint8_t)(length - 14);
	memcpy(frame + 18, bytes, count);
	for (size_t at = 0; at < length; at += step) {
		size_t part = length - at < step ? length - at : step;
		struct rte_mbuf *mbuf = rte_pktmbuf_alloc(engine->pool);

		require(mbuf);
		memcpy(rte_pktmbuf_append(mbuf, (uint16_t)part), frame + at, part);
		if (!first)
			first = mbuf;
		else
			require(rte_pktmbuf_chain(first, mbuf) == 0);
	}
	return first;
}

/* Ends all that is held, and looks whether every buffer has come back. */
static void end(void)
{
	for (int w = 0; w < WORKERS; w++) {
		struct gw_worker *worker = engine->worker[w];

		for (int i = 0; i < 2 && worker->hold->count; i++) {
			worker->now_ns += 10000000000u;
			gw_fragment_poll(worker);
			drain(worker);
		}
		require(worker->hold->count == 0);
	}
	require(rte_mempool_avail_count(engine->pool) == BUFFERS);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t now = engine->worker[0]->now_ns;

	for (int w = 0; w < WORKERS; w++)
		if (engine->worker[w]->now_ns > now)
			now = engine->worker[w]->now_ns;
	while (size >= 6) {
		struct gw_worker *worker = engine->worker[data[0] & 1];
		size_t count = data[1] & 31, length = 60 + (data[2] << 4 | data[3] >> 4);
		size_t step = data[3] & 1 ? 64 + data[4] : 2000;
		struct rte_mbuf *mbuf;

		now += (uint64_t)data[5] * 20000000;
		data += 6;
		size -= 6;
		if (count > size)
			count = size;
		worker->now_ns = now;
		worker->now = (uint32_t)(now / 1000000000u);
		mbuf = make(data, count, length, step);
		data += count;
		size -= count;
		gw_pipeline_run(worker, 0, &mbuf, 1);
		drain(worker);
	}
	end();
	return 0;
}
