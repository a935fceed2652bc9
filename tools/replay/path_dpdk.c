/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The dataplane's own worker code on a vdev: each frame is a burst of one, and what leaves is seen
 * by a callback of the transmit queue, in its order. Held fragments are known by their mbufs.
 */
#include "base/log.h"
#include "dataplane/engine.h"
#include "dataplane/fragment.h"
#include "dataplane/snapshot.h"
#include "path.h"

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_ethdev.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BUFFERS 16383 /* of ordinary size: longer frames come as chains, as from a port */

/* A packet that a worker holds, or has just let go. */
struct held {
	const struct rte_mbuf *mbuf;
	uint64_t index;
	bool gone;
	struct gw_result result; /* once it is gone */
};

static struct gw_engine *engine;
static struct sink sink;
static struct frame *out;
static struct held helds[GW_HELD_MAX + 1];
static size_t held_count;

/* What has left by the port since frames_take; mbufs with a reference of ours. */
static struct rte_mbuf **left;
static size_t left_count, left_taken, left_room;

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

/* A callback of the transmit queue: takes note of all that leaves, and lets it. */
static uint16_t note_left(
	uint16_t port, uint16_t queue, struct rte_mbuf **mbufs, uint16_t count, void *owner)
{
	(void)port;
	(void)queue;
	(void)owner;
	for (uint16_t i = 0; i < count; i++) {
		if (left_count == left_room) {
			size_t room = left_room ? left_room * 2 : 256;
			struct rte_mbuf **grown = reallocarray(left, room, sizeof(*left));

			if (!grown)
				abort();
			left = grown;
			left_room = room;
		}
		rte_mbuf_refcnt_update(mbufs[i], 1);
		for (struct rte_mbuf *part = mbufs[i]->next; part; part = part->next)
			rte_mbuf_refcnt_update(part, 1);
		left[left_count++] = mbufs[i];
	}
	return count;
}

static int open_port(void)
{
	struct gw_port_spec spec = {.name = "net_null0"};
	int error = gw_port_open(&engine->port[0], &spec, 0, 1, engine->pool);

	if (error)
		return error;
	engine->port[0].any_mac = true;
	engine->port[0].mac = (struct rte_ether_addr){REPLAY_OUR_MAC};
	engine->port[0].mtu = UINT16_MAX; /* only the next hop's counts */
	engine->port_count = 1;
	gw_engine_connect(engine);
	error = gw_port_start(&engine->port[0]);
	if (!error && !rte_eth_add_tx_callback(engine->port[0].ethdev, 0, note_left, NULL))
		error = -rte_errno;
	return error;
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

/* The hold's word on those that it lets go. */
static void note_released(void *owner, const struct gw_burst *burst)
{
	(void)owner;
	for (uint16_t i = 0; i < burst->count; i++) {
		for (size_t h = 0; h < held_count; h++) {
			if (helds[h].mbuf != burst->mbuf[i] || helds[h].gone)
				continue;
			helds[h].gone = true;
			helds[h].result = burst->result[i];
			break;
		}
	}
}

static int open_dpdk(const struct path_setup *setup, const struct sink *wanted)
{
	static const uint32_t cpu = 0;
	struct gw_engine_options options = {.flows = setup->flows, .worker_count = 1, .cpus = &cpu};
	int error = start_eal();

	sink = *wanted;
	out = frames_alloc();
	if (!error && !out)
		error = -ENOMEM;
	if (!error)
		error = gw_engine_create(&engine, &options);
	if (error) {
		gw_log_error("the DPDK path does not start: %s", strerror(-error));
		return error;
	}
	engine->hops.paths[REPLAY_WAYS_RECORD] = *setup->ways;
	engine->pool = rte_pktmbuf_pool_create(
		"replay", BUFFERS, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
	error = engine->pool ? open_port() : -ENOMEM;
	if (!error)
		error = load(setup->snapshot);
	engine->worker[0]->hold->released = note_released;
	return error;
}

/* The next `count` frames that left, copied into `out`. */
static void frames_take(size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct rte_mbuf *mbuf = left[left_taken++];
		const void *bytes = rte_pktmbuf_read(mbuf, 0, mbuf->pkt_len, out[i].bytes);

		if (bytes && bytes != out[i].bytes)
			memcpy(out[i].bytes, bytes, mbuf->pkt_len);
		out[i].length = mbuf->pkt_len;
		rte_pktmbuf_free(mbuf);
	}
}

/* Frames that a packet has become. */
static size_t frames_of(const struct gw_result *result)
{
	if (result->verdict == GW_VERDICT_REPLY)
		return 1;
	if (result->verdict != GW_VERDICT_TX)
		return 0;
	return result->piece_count ? result->piece_count : 1;
}

static void tell(uint64_t index, const struct gw_result *result)
{
	const struct fate fate = {
		.verdict = result->verdict,
		.reason = result->reason,
		.service = result->service,
		.backend = result->backend,
		.hash = result->hash,
		.slot = result->slot,
		.flow = result->flow,
		.out_count = frames_of(result),
		.out = out,
	};

	frames_take(fate.out_count);
	sink.decided(sink.owner, index, &fate);
}

/* Those that were let go, in the order in which they left. */
static void tell_released(void)
{
	size_t kept = 0;

	for (size_t h = 0; h < held_count; h++) {
		if (helds[h].gone)
			tell(helds[h].index, &helds[h].result);
		else
			helds[kept++] = helds[h];
	}
	held_count = kept;
	left_count = left_taken = 0;
}

static void drop_host_frames(struct gw_worker *worker)
{
	struct rte_mbuf *mbuf;

	while (rte_ring_sc_dequeue(worker->to_host, (void **)&mbuf) == 0)
		rte_pktmbuf_free(mbuf);
}

/* As a port would give it: in one buffer, or in a chain of them. */
static struct rte_mbuf *frame_make(const uint8_t *frame, size_t length)
{
	struct rte_mbuf *first = NULL;

	do {
		struct rte_mbuf *mbuf = rte_pktmbuf_alloc(engine->pool);
		size_t part = mbuf ? rte_pktmbuf_tailroom(mbuf) : 0;

		part = length < part ? length : part;
		if (!mbuf || (first && rte_pktmbuf_chain(first, mbuf) != 0)) {
			rte_pktmbuf_free(mbuf);
			rte_pktmbuf_free(first);
			return NULL;
		}
		memcpy(rte_pktmbuf_mtod(mbuf, void *), frame, part);
		mbuf->data_len = (uint16_t)part;
		if (!first)
			first = mbuf;
		first->pkt_len += (uint32_t)part;
		frame += part;
		length -= part;
	} while (length);
	return first;
}

static int run_dpdk(uint64_t index, const uint8_t *frame, size_t length, uint64_t now_ns)
{
	struct gw_worker *worker = engine->worker[0];
	const struct gw_result *result = &worker->burst.result[0];
	struct rte_mbuf *mbuf = frame_make(frame, length);

	if (!mbuf) {
		gw_log_error("no buffer for a frame of %zu bytes", length);
		return -ENOMEM;
	}
	/* In case it will be held. */
	helds[held_count++] = (struct held){.mbuf = mbuf, .index = index};
	worker->now_ns = now_ns;
	worker->now = (uint32_t)(now_ns / 1000000000u);
	gw_pipeline_run(worker, 0, &mbuf, 1);
	gw_tx_flush(worker);
	/* Packets of tracked flows mostly do without. */
	if (result->service != GW_NONE)
		gw_burst_hash(worker, &worker->burst, 0);
	tell(index, result);
	if (result->verdict != GW_VERDICT_HELD)
		held_count--;
	tell_released();
	drop_host_frames(worker);
	return 0;
}

static void finish_dpdk(void)
{
	struct gw_worker *worker = engine->worker[0];
	struct gw_hold *hold = worker->hold;

	while (hold->count) {
		worker->now_ns = hold->held[0].expires_ns;
		gw_fragment_poll(worker);
		tell_released();
	}
}

static uint64_t flow_dpdk(const struct gw_flow_key *key)
{
	uint64_t word = GW_FLOW_EMPTY;

	if (gw_flow_lookup(&engine->flows, gw_flow_table_place(&engine->flows, key), &word) ==
		GW_FLOW_NOWHERE)
		return GW_FLOW_EMPTY;
	return word;
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
	frames_free(out);
	out = NULL;
	free(left);
	left = NULL;
	rte_eal_cleanup();
}

const struct path path_dpdk = {
	"dpdk", open_dpdk, run_dpdk, finish_dpdk, flow_dpdk, counters_dpdk, close_dpdk};
