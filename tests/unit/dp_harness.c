/* SPDX-License-Identifier: BSD-2-Clause */
#include "dp_harness.h"

#include "dataplane/fragment.h"
#include "suite.h"

#include <rte_eal.h>
#include <rte_ethdev.h>
#include <rte_lcore.h>

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FRAMES 2047

static void give_up(const char *what)
{
	fprintf(stderr, "harness: %s\n", what);
	exit(1);
}

static void start_eal(void)
{
	static bool started;
	static const char *const options[] = {"test", "--no-huge", "--no-shconf", "--no-pci",
		"--no-telemetry", "-m", "256", "-l", "0", "--log-level", "error", "--vdev",
		"net_ring0"};
	/* EAL writes to the array and keeps the words. */
	static char words[sizeof(options) / sizeof(options[0])][32];
	char *argv[sizeof(options) / sizeof(options[0]) + 1] = {};
	int argc = 0;
	cpu_set_t cpus;

	if (started)
		return;
	for (; argc < (int)(sizeof(options) / sizeof(options[0])); argc++) {
		snprintf(words[argc], sizeof(words[argc]), "%s", options[argc]);
		argv[argc] = words[argc];
	}
	/* EAL pins this thread; the tests' own threads may go anywhere. */
	if (sched_getaffinity(0, sizeof(cpus), &cpus) < 0 || rte_eal_init(argc, argv) < 0 ||
		sched_setaffinity(0, sizeof(cpus), &cpus) < 0)
		give_up("EAL does not start");
	started = true;
}

static struct rte_mempool *frames_pool(void)
{
	static struct rte_mempool *pool;

	if (!pool)
		pool = rte_pktmbuf_pool_create(
			"frames", FRAMES, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
	if (!pool)
		give_up("no pool of frames");
	return pool;
}

static void open_port(struct gw_engine *engine, struct gw_port *port)
{
	static bool opened;
	const struct rte_eth_conf conf = {};

	if (rte_eth_dev_get_port_by_name("net_ring0", &port->ethdev) != 0)
		give_up("no net_ring0");
	if (!opened &&
		(rte_eth_dev_configure(port->ethdev, 1, 1, &conf) != 0 ||
			rte_eth_rx_queue_setup(port->ethdev, 0, 512, 0, NULL, engine->pool) != 0 ||
			rte_eth_tx_queue_setup(port->ethdev, 0, 512, 0, NULL) != 0 ||
			rte_eth_dev_start(port->ethdev) != 0))
		give_up("net_ring0 does not start");
	opened = true;
	/* The MAC that tests/unit/frames.h sends to. */
	port->mac = (struct rte_ether_addr){{2, 0, 0, 0, 0, 0x0b}};
	port->mtu = 1500;
	port->rx_queues = port->tx_queues = 1;
}

struct gw_engine *harness_start(uint64_t flows, uint16_t workers)
{
	static const uint32_t cpus[GW_WORKERS_MAX];
	struct gw_engine_options options = {
		.flows = flows, .worker_count = workers, .cpus = cpus, .busy_poll = true};
	struct gw_engine *engine;

	start_eal();
	if (gw_engine_create(&engine, &options) != 0)
		give_up("no engine");
	engine->pool = frames_pool();
	open_port(engine, &engine->port[0]);
	engine->port_count = 1;
	gw_engine_connect(engine);
	return engine;
}

void harness_stop(struct gw_engine *engine)
{
	struct rte_mbuf *left;

	for (uint16_t i = 0; i < engine->worker_count; i++) {
		gw_fragment_free(engine->worker[i]->hold);
		while (rte_ring_dequeue(engine->worker[i]->to_host, (void **)&left) == 0)
			rte_pktmbuf_free(left);
	}
	CU_ASSERT_EQUAL(rte_mempool_avail_count(engine->pool), FRAMES);
	gw_engine_destroy(engine);
}

void harness_load(struct gw_engine *engine, const struct image_spec *spec)
{
	static struct gw_message_snapshot_reply reply;
	struct gw_snapshot_header *image = image_make(spec);

	gw_snapshot_load_image(engine, image, image->total_size, &reply);
	CU_ASSERT_EQUAL(reply.result, GW_SNAPSHOT_IN_FORCE);
	if (reply.result != GW_SNAPSHOT_IN_FORCE)
		printf("\n  snapshot %llu: result %u, %s\n", (unsigned long long)spec->version,
			reply.result, reply.text);
	gw_engine_reclaim(engine);
	free(image);
}

struct rte_mbuf *harness_frame(
	struct gw_engine *engine, const void *bytes, size_t length, unsigned int segments)
{
	struct rte_mbuf *first = NULL;
	const uint8_t *at = bytes;

	for (unsigned int i = 0; i < segments; i++) {
		size_t part = i + 1 == segments ? length : length / (segments - i);
		struct rte_mbuf *mbuf = rte_pktmbuf_alloc(engine->pool);

		if (!mbuf)
			give_up("no frame left");
		memcpy(rte_pktmbuf_append(mbuf, (uint16_t)part), at, part);
		at += part;
		length -= part;
		if (!first)
			first = mbuf;
		else
			rte_pktmbuf_chain(first, mbuf);
	}
	return first;
}

struct gw_result harness_run(
	struct gw_engine *engine, struct rte_mbuf *mbuf, uint8_t out[2048], size_t *out_length)
{
	struct gw_worker *worker = engine->worker[0];
	struct rte_mbuf *sent[4];
	uint16_t count;

	gw_pipeline_run(worker, 0, &mbuf, 1);
	gw_tx_flush(worker);
	count = rte_eth_rx_burst(engine->port[0].ethdev, 0, sent, 4);
	CU_ASSERT(count <= 1);
	CU_ASSERT_EQUAL(count, worker->burst.result[0].verdict == GW_VERDICT_TX ||
				       worker->burst.result[0].verdict == GW_VERDICT_REPLY);
	if (out_length)
		*out_length = count ? sent[0]->pkt_len : 0;
	if (out && count) {
		const void *bytes = rte_pktmbuf_read(sent[0], 0, sent[0]->pkt_len, out);

		if (bytes != out)
			memcpy(out, bytes, sent[0]->pkt_len);
	}
	rte_pktmbuf_free_bulk(sent, count);
	if (worker->burst.result[0].service != GW_NONE)
		gw_burst_hash(worker, &worker->burst, 0);
	return worker->burst.result[0];
}

struct gw_counters harness_counters(const struct gw_engine *engine)
{
	struct gw_counters c = engine->worker[0]->stats.counters;
	uint64_t sum = c.tx + c.to_host + c.replied + c.consumed + c.held;

	for (int i = 0; i < GW_DROP_MAX; i++)
		sum += c.drops[i];
	CU_ASSERT_EQUAL(c.rx, sum);
	return c;
}
