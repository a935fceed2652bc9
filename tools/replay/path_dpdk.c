/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The dataplane's own worker code on a vdev: each frame is a burst of one, and what would leave is
 * taken from the worker's transmit buffer.
 */
#include "base/log.h"
#include "dataplane/engine.h"
#include "dataplane/snapshot.h"
#include "path.h"

#include <rte_eal.h>
#include <rte_errno.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FRAMES	   256
#define FRAME_ROOM (REPLAY_FRAME_MAX - 1) /* data room is 16 bits, headroom included */

static struct gw_engine *engine;

static int start_eal(void)
{
	/* EAL keeps pointers into these. */
	static char words[][32] = {"guideway-replay", "--no-huge", "-m", "320", "--no-shconf",
		"--no-pci", "--no-telemetry", "--log-level=error", "-l", "0", "--vdev",
		"net_null0"};
	static char *argv[sizeof(words) / sizeof(words[0]) + 1];

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		argv[i] = words[i];
	if (rte_eal_init((int)(sizeof(words) / sizeof(words[0])), argv) >= 0)
		return 0;
	gw_log_error("DPDK does not start: %s", rte_strerror(rte_errno));
	return -rte_errno;
}

static int open_port(void)
{
	struct gw_port_spec spec = {.name = "net_null0"};
	int error = gw_port_open(&engine->port[0], &spec, 0, 1, engine->pool);

	if (error)
		return error;
	engine->port[0].any_mac = true;
	engine->port[0].mtu = UINT16_MAX; /* only the next hop's counts */
	engine->port_count = 1;
	gw_engine_connect(engine);
	return 0;
}

static int load(const struct gw_snapshot *snapshot)
{
	static struct gw_message_snapshot_reply reply;
	struct gw_snapshot_header *image = gw_snapshot_image_whole(snapshot);

	if (!image)
		return -ENOMEM;
	gw_snapshot_load_image(engine, image, image->total_size, &reply);
	free(image);
	if (reply.result == GW_SNAPSHOT_IN_FORCE)
		return 0;
	gw_log_error("the snapshot cannot be put in force: %s", reply.text);
	return -EINVAL;
}

static int open_dpdk(struct gw_snapshot *snapshot, uint64_t flows)
{
	static const uint32_t cpu = 0;
	struct gw_engine_options options = {.flows = flows, .worker_count = 1, .cpus = &cpu};
	int error = start_eal();

	if (!error)
		error = gw_engine_create(&engine, &options);
	if (error) {
		gw_log_error("the DPDK path does not start: %s", strerror(-error));
		return error;
	}
	engine->pool = rte_pktmbuf_pool_create("replay", FRAMES, 0, 0, FRAME_ROOM, SOCKET_ID_ANY);
	error = engine->pool ? open_port() : -ENOMEM;
	if (!error)
		error = load(snapshot);
	return error;
}

/* What waits in the transmit buffer, in order; nothing is really sent. */
static void take_output(struct gw_worker *worker, struct fate *fate)
{
	struct gw_tx_buffer *buffer = &worker->tx[0];

	for (uint16_t i = 0; i < buffer->count; i++) {
		struct rte_mbuf *mbuf = buffer->mbuf[i];
		struct frame *out = &fate->out[fate->out_count];
		const void *bytes = fate->out_count < REPLAY_OUT_MAX
					    ? rte_pktmbuf_read(mbuf, 0, mbuf->pkt_len, out->bytes)
					    : NULL;

		if (bytes) {
			if (bytes != out->bytes)
				memcpy(out->bytes, bytes, mbuf->pkt_len);
			out->length = mbuf->pkt_len;
			fate->out_count++;
		}
		rte_pktmbuf_free(mbuf);
	}
	buffer->count = 0;
	worker->tx_pending = 0;
}

static void drop_host_frames(struct gw_worker *worker)
{
	struct rte_mbuf *mbuf;

	while (rte_ring_sc_dequeue(worker->to_host, (void **)&mbuf) == 0)
		rte_pktmbuf_free(mbuf);
}

static int run_dpdk(const uint8_t *frame, size_t length, uint64_t now_ns, struct fate *fate)
{
	struct gw_worker *worker = engine->worker[0];
	const struct gw_result *result = &worker->burst.result[0];
	struct rte_mbuf *mbuf = rte_pktmbuf_alloc(engine->pool);
	char *room = mbuf ? rte_pktmbuf_append(mbuf, (uint16_t)length) : NULL;

	if (!room) {
		rte_pktmbuf_free(mbuf);
		gw_log_error("no buffer for a frame of %zu bytes", length);
		return -ENOMEM;
	}
	memcpy(room, frame, length);
	worker->now = (uint32_t)(now_ns / 1000000000u);
	gw_pipeline_run(worker, 0, &mbuf, 1);
	fate->verdict = result->verdict;
	fate->reason = result->reason;
	fate->service = result->service;
	fate->backend = result->backend;
	fate->hash = result->hash;
	fate->slot = result->slot;
	fate->flow = result->flow;
	fate->out_count = 0;
	take_output(worker, fate);
	drop_host_frames(worker);
	return 0;
}

static int counters_dpdk(struct gw_counters *counters)
{
	*counters = engine->worker[0]->stats.counters;
	return 0;
}

static void close_dpdk(void)
{
	if (engine && engine->port_count)
		gw_port_close(&engine->port[0]);
	gw_engine_destroy(engine);
	engine = NULL;
	rte_eal_cleanup();
}

const struct path path_dpdk = {"dpdk", open_dpdk, run_dpdk, counters_dpdk, close_dpdk};
