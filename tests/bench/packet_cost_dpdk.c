/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sends N packets of a case through the DPDK pipeline, to be run under callgrind with
 * --toggle-collect=gw_pipeline_run: twice, with N and 2 N packets, so that what the flows' first
 * packets cost cancels out (tests/bench/packet_cost does it). Time stands still.
 */
#include "dataplane/engine.h"
#include "dataplane/snapshot.h"
#include "packet_cost.h"

#include <rte_eal.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BURST  32
#define FRAMES 511

static void give_up(const char *what)
{
	fprintf(stderr, "packet_cost_dpdk: %s\n", what);
	exit(1);
}

static void start_eal(void)
{
	static char words[][32] = {"packet_cost_dpdk", "--no-huge", "--no-shconf", "--no-pci",
		"--no-telemetry", "-m", "128", "-l", "0", "--log-level", "error", "--vdev",
		"net_null0"};
	static char *argv[sizeof(words) / sizeof(words[0]) + 1];

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		argv[i] = words[i];
	if (rte_eal_init((int)(sizeof(words) / sizeof(words[0])), argv) < 0)
		give_up("EAL does not start");
}

static struct gw_engine *start_engine(const struct cost_case *cost)
{
	static const uint32_t cpu = 0;
	static struct gw_message_snapshot_reply reply;
	struct gw_engine_options options = {
		.flows = 8 * COST_FLOWS, .worker_count = 1, .cpus = &cpu, .busy_poll = true};
	struct gw_port_spec port = {.name = "net_null0"};
	struct gw_build *build = cost_build(cost);
	struct gw_snapshot_header *image;
	struct gw_engine *engine;

	if (gw_engine_create(&engine, &options))
		give_up("no engine");
	engine->pool = rte_pktmbuf_pool_create(
		"frames", FRAMES, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
	if (!engine->pool || gw_port_open(&engine->port[0], &port, 0, 1, engine->pool) ||
		gw_port_start(&engine->port[0]))
		give_up("no port");
	engine->port[0].mac = (struct rte_ether_addr){{2, 0, 0, 0, 0, 2}};
	engine->port_count = 1;
	engine->flows.seed = 1;
	gw_engine_connect(engine);
	image = gw_snapshot_image_whole(build->snapshot);
	if (!image)
		give_up("no memory");
	gw_snapshot_load_image(engine, image, image->total_size, &reply);
	free(image);
	if (reply.result != GW_SNAPSHOT_IN_FORCE)
		give_up(reply.text);
	gw_build_free(build);
	return engine;
}

static void run(struct gw_engine *engine, const struct cost_case *cost, uint32_t packets,
	uint8_t flags, enum gw_trace_flow wanted)
{
	struct gw_worker *worker = engine->worker[0];
	struct rte_mbuf *mbufs[BURST];
	uint8_t frame[COST_FRAME];

	for (uint32_t done = 0; done < packets; done += BURST) {
		if (rte_pktmbuf_alloc_bulk(engine->pool, mbufs, BURST))
			give_up("frames are lost");
		for (uint32_t i = 0; i < BURST; i++) {
			size_t length = cost_frame(cost, (done + i) % COST_FLOWS, flags, frame);

			memcpy(rte_pktmbuf_append(mbufs[i], (uint16_t)length), frame, length);
		}
		gw_pipeline_run(worker, 0, mbufs, BURST);
		gw_tx_flush(worker);
		for (uint32_t i = 0; i < BURST; i++)
			if (worker->burst.result[i].verdict != GW_VERDICT_TX ||
				worker->burst.result[i].flow != wanted)
				give_up("a packet went another way than the one to be measured");
	}
}

int main(int argc, char **argv)
{
	enum gw_trace_flow first, then;
	const struct cost_case *cost;
	struct gw_engine *engine;

	if (argc != 3) {
		fprintf(stderr, "usage: packet_cost_dpdk CASE PACKETS\n");
		return 2;
	}
	cost = cost_case_find(argv[1]);
	start_eal();
	engine = start_engine(cost);
	engine->worker[0]->now = 1000;
	first = cost->untracked ? GW_TRACE_TABLE_ONLY : GW_TRACE_NEW;
	then = cost->untracked ? GW_TRACE_TABLE_ONLY : GW_TRACE_HIT;
	run(engine, cost, COST_FLOWS, COST_SYN, first);
	run(engine, cost, COST_FLOWS, COST_ACK, then);
	run(engine, cost, (uint32_t)strtoul(argv[2], NULL, 10), COST_ACK, then);
	return 0;
}
