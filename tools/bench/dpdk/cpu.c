/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The DPDK path by itself: the daemon's engine and workers (dataplane/engine.h) on a port whose
 * frames come from memory (dpdk/vdev.h), or in their place, on the same port, the bound: receive,
 * swap MACs, send.
 *
 * A case opens with a walk: the flows that only fill the table, then those that will be measured,
 * each by a SYN and an ACK, so that all are ESTABLISHED and every measured packet but the new ones
 * is a hit. Everything runs as in the daemon: counters, the sweeper, statistics summed once a
 * second, snapshots through the checker. Workers stop between measurements; the engine and its flow
 * table stay.
 */
#include "bench/core/bench.h"
#include "bench/core/clock.h"
#include "bench/core/counted.h"
#include "control/builder.h"
#include "dataplane/engine.h"
#include "dataplane/snapshot.h"
#include "dataplane/stats.h"
#include "dataplane/sweeper.h"
#include "forwarder.h"
#include "start.h"
#include "vdev.h"

#include <rte_eal.h>
#include <rte_ethdev.h>
#include <rte_launch.h>
#include <rte_version.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NS_PER_SECOND  1000000000ll
#define BUFFERS	       4096 /* a worker */
#define BUFFERS_CACHED 256  /* by each lcore, as in the daemon */
#define POLL_NS	       500000
#define WALK_SECONDS   120 /* at most */
#define BURST_SECONDS  10  /* for a burst to begin or end */
#define IO_SHARE       0.25

/* Flow numbers: the case's, those that open while it is measured, those that only fill. */
#define FILL_FIRST (FRAMES_FLOWS / 2)

struct cpu_bench {
	struct bench_case what;
	bool swaps_held;
	struct bench_frames frames;
	struct rte_mempool *pool;
	struct vdev *vdev;
	struct gw_engine *engine;
	struct gw_stats_area stats;
	struct gw_sweeper *sweeper;
	struct gw_snapshot_header *image[2]; /* put in force in turn */
	uint64_t version;		     /* in force */
	struct forwarder forwarder[GW_WORKERS_MAX];
};

/* Threads --------------------------------------------------------------------------------- */

static int workers_launch(struct cpu_bench *bench)
{
	int error = 0;

	for (uint16_t i = 0; i < bench->engine->worker_count && !error; i++) {
		struct gw_worker *worker = bench->engine->worker[i];

		__atomic_store_n(&worker->stop, false, __ATOMIC_RELAXED);
		error = rte_eal_remote_launch(gw_worker_run, worker, dpdk_lcore(i));
	}
	return error;
}

/* The bound, on the workers' queues and with bursts of their size. */
static int forwarders_launch(struct cpu_bench *bench, bool io)
{
	int error = 0;

	for (uint16_t i = 0; i < bench->engine->worker_count && !error; i++) {
		struct forwarder *forwarder = &bench->forwarder[i];

		*forwarder = (struct forwarder){.ethdev = bench->engine->port[0].ethdev,
			.queue = i,
			.burst = vdev_burst(bench->vdev),
			.io = io};
		error = rte_eal_remote_launch(forwarder_run, forwarder, dpdk_lcore(i));
	}
	return error;
}

/* Of what the workers handed to the host's stack: nobody else takes it. */
static void drop_host_frames(struct gw_worker *worker)
{
	struct rte_mbuf *mbuf;

	while (rte_ring_sc_dequeue(worker->to_host, (void **)&mbuf) == 0)
		rte_pktmbuf_free(mbuf);
}

static void all_stop(struct cpu_bench *bench)
{
	for (uint16_t i = 0; i < bench->engine->worker_count; i++) {
		__atomic_store_n(&bench->engine->worker[i]->stop, true, __ATOMIC_RELAXED);
		__atomic_store_n(&bench->forwarder[i].stop, true, __ATOMIC_RELAXED);
	}
	for (uint16_t i = 0; i < bench->engine->worker_count; i++) {
		rte_eal_wait_lcore(dpdk_lcore(i));
		drop_host_frames(bench->engine->worker[i]);
	}
}

/* False: a signal came before. */
static bool sleep_until(int64_t ns)
{
	const struct timespec at = {.tv_sec = ns / NS_PER_SECOND, .tv_nsec = ns % NS_PER_SECOND};

	return clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) != EINTR;
}

/* For the port to say that all workers are so far. */
static int wait_for(struct cpu_bench *bench, bool (*so_far)(const struct vdev *vdev),
	int64_t seconds, char *message)
{
	int64_t late = (int64_t)bench_clock_ns() + seconds * NS_PER_SECOND;

	while (!so_far(bench->vdev)) {
		if ((int64_t)bench_clock_ns() > late) {
			snprintf(message, BENCH_MESSAGE,
				"a worker did not get its work done within %" PRId64
				" s: is its CPU taken?",
				seconds);
			return -ETIMEDOUT;
		}
		sleep_until((int64_t)bench_clock_ns() + POLL_NS);
	}
	return 0;
}

/* Snapshots ------------------------------------------------------------------------------- */

static int put_in_force(struct cpu_bench *bench, char *message)
{
	static struct gw_message_snapshot_reply reply;
	struct gw_snapshot_header *image = bench->image[bench->version & 1];

	/* Images are made once and come in turn: only the number must rise. */
	image->version = ++bench->version;
	gw_snapshot_load_image(bench->engine, image, image->total_size, &reply);
	gw_engine_reclaim(bench->engine);
	if (reply.result == GW_SNAPSHOT_IN_FORCE)
		return 0;
	snprintf(message, BENCH_MESSAGE, "the snapshot cannot be put in force: %s", reply.text);
	return -EINVAL;
}

static int make_images(struct cpu_bench *bench, char *message)
{
	uint32_t count = bench->what.swaps_per_second ? 2 : 1;

	for (uint32_t i = 0; i < count; i++) {
		struct gw_build *build = NULL;
		int error = bench_build(&bench->what, i + 1, &build, message);

		if (error)
			return error;
		bench->image[i] = gw_snapshot_image_whole(build->snapshot);
		gw_build_free(build);
		if (!bench->image[i])
			return -ENOMEM;
	}
	return put_in_force(bench, message);
}

/* Measuring ------------------------------------------------------------------------------- */

static void counters_sum(const struct gw_engine *engine, struct gw_counters *sum)
{
	*sum = (struct gw_counters){0};
	for (uint16_t i = 0; i < engine->worker_count; i++) {
		const uint64_t *from = (const uint64_t *)&engine->worker[i]->stats.counters;
		uint64_t *to = (uint64_t *)sum;

		for (size_t k = 0; k < sizeof(*sum) / sizeof(*to); k++)
			to[k] += from[k];
	}
}

static void count_passed(const struct vdev_report *report, struct bench_sample *sample)
{
	sample->seconds = report->seconds;
	sample->cycles = report->cycles;
	sample->offered = report->received;
	sample->packets = report->sent;
	sample->lost = report->received - report->sent;
	sample->sampled = report->sampled;
	sample->wrong = report->wrong;
	bench_note(sample, "out of buffers", report->no_buffers);
}

static struct vdev_offer offer_of(const struct bench_case *what)
{
	return (struct vdev_offer){
		.end = what->flows,
		.new_share = what->new_share,
		.new_first = what->flows,
		.new_end = FILL_FIRST,
	};
}

/* While the workers run: what the daemon's main thread does meanwhile, and the swaps. */
static int attend(struct cpu_bench *bench, int64_t end, bool swaps, struct bench_sample *sample,
	char *message)
{
	int64_t begin = (int64_t)bench_clock_ns(), second = begin + NS_PER_SECOND, swap = INT64_MAX;

	if (swaps && bench->what.swaps_per_second && !bench->swaps_held)
		swap = begin + NS_PER_SECOND / bench->what.swaps_per_second;
	for (;;) {
		int64_t next = RTE_MIN(swap, RTE_MIN(second, end));

		if (!sleep_until(next)) {
			snprintf(message, BENCH_MESSAGE, "interrupted");
			return -EINTR;
		}
		if (next == end)
			return 0;
		if (next == second) {
			gw_stats_update(&bench->stats, bench->engine);
			second += NS_PER_SECOND;
			continue;
		}
		if (put_in_force(bench, message))
			return -EINVAL;
		sample->swaps++;
		swap = begin +
		       (int64_t)(sample->swaps + 1) * NS_PER_SECOND / bench->what.swaps_per_second;
	}
}

/* Who works on the port. */
enum cpu_subject {
	CPU_BALANCER,
	CPU_BOUND,
	CPU_IO, /* testpmd's io: the bound, and the frames stay as they are */
};

static int measure_one(struct cpu_bench *bench, enum cpu_subject subject, double seconds,
	struct bench_sample *sample, char *message)
{
	const struct vdev_offer offer = offer_of(&bench->what);
	bool balancer = subject == CPU_BALANCER;
	struct gw_counters before, after;
	struct vdev_report report;
	int error = balancer ? workers_launch(bench) : forwarders_launch(bench, subject == CPU_IO);
	int late;

	counters_sum(bench->engine, &before);
	vdev_go(bench->vdev, &offer);
	if (!error)
		error = wait_for(bench, vdev_begun, BURST_SECONDS, message);
	if (!error)
		error = attend(bench,
			(int64_t)bench_clock_ns() + (int64_t)(seconds * (double)NS_PER_SECOND),
			balancer, sample, message);
	vdev_halt(bench->vdev);
	late = error ? 0 : wait_for(bench, vdev_ended, BURST_SECONDS, message);
	all_stop(bench);
	if (error || late)
		return error ? error : late;
	counters_sum(bench->engine, &after);
	vdev_report(bench->vdev, balancer, &report);
	count_passed(&report, sample);
	if (balancer)
		bench_count(&before, &after, sample);
	return 0;
}

static void cpu_hold_swaps(void *state, bool held)
{
	struct cpu_bench *bench = state;

	bench->swaps_held = held;
}

static int cpu_measure(void *state, enum bench_subject subject, double seconds,
	struct bench_sample *sample, char message[BENCH_MESSAGE])
{
	struct bench_sample io = {0};
	int error;

	if (subject == BENCH_BALANCER)
		return measure_one(state, CPU_BALANCER, seconds, sample, message);
	error = measure_one(state, CPU_BOUND, seconds * (1 - IO_SHARE), sample, message);
	if (!error)
		error = measure_one(state, CPU_IO, seconds * IO_SHARE, &io, message);
	if (!error && io.packets)
		sample->io_ns = io.seconds * 1e9 / (double)io.packets;
	return error;
}

/* Opening --------------------------------------------------------------------------------- */

static int check_case(
	const struct bench_machine *machine, const struct bench_case *what, char *message)
{
	if (!what->flows || what->flows >= FILL_FIRST) {
		snprintf(message, BENCH_MESSAGE,
			"%" PRIu64 " flows: from memory there can be 1 to %" PRIu64, what->flows,
			FILL_FIRST - 1);
		return -ENOTSUP;
	}
	if (!what->workers || what->workers > GW_WORKERS_MAX ||
		dpdk_cpu(machine, what->workers - 1) < 0) {
		snprintf(message, BENCH_MESSAGE,
			"%u workers: CPU %d and those after it that this process may use are fewer "
			"(see `taskset -p $$`)",
			what->workers, machine->cpu);
		return -ENOTSUP;
	}
	return 0;
}

static int open_pool(struct cpu_bench *bench, char *message)
{
	bench->pool = rte_pktmbuf_pool_create("gw_frames", BUFFERS * bench->what.workers - 1,
		BUFFERS_CACHED, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
	if (bench->pool)
		return 0;
	snprintf(message, BENCH_MESSAGE,
		"no memory for frames: give DPDK more (-m, or more huge pages)");
	return -ENOMEM;
}

static int open_engine(struct cpu_bench *bench, const struct bench_machine *machine, char *message)
{
	uint32_t cpus[GW_WORKERS_MAX];
	struct gw_engine_options options = {
		.flows = bench_table_flows(&bench->what),
		.worker_count = (uint16_t)bench->what.workers,
		.cpus = cpus,
		.busy_poll = true,
	};
	int error;

	for (uint32_t i = 0; i < bench->what.workers; i++)
		cpus[i] = (uint32_t)dpdk_cpu(machine, i);
	error = gw_engine_create(&bench->engine, &options);
	if (error)
		snprintf(message, BENCH_MESSAGE,
			"no room for a table of %" PRIu64
			" flows: %s (give DPDK more huge pages, or "
			"--no-huge)",
			options.flows, strerror(-error));
	return error;
}

static int open_port(struct cpu_bench *bench, char *message)
{
	const struct gw_port_spec spec = {.name = VDEV_NAME};
	struct gw_engine *engine = bench->engine;
	uint16_t workers = (uint16_t)bench->what.workers;
	int error;

	engine->pool = bench->pool;
	error = vdev_create(&bench->vdev, &bench->frames, workers, bench->pool);
	if (!error)
		error = gw_port_open(&engine->port[0], &spec, 0, workers, bench->pool);
	if (error) {
		snprintf(message, BENCH_MESSAGE, "DPDK's net_null cannot be made: %s",
			strerror(-error));
		return error;
	}
	memcpy(&engine->port[0].mac, bench->frames.destination_mac, RTE_ETHER_ADDR_LEN);
	engine->port[0].mtu = BENCH_MTU;
	engine->port_count = 1;
	gw_engine_connect(engine);
	error = gw_port_start(&engine->port[0]);
	if (!error)
		vdev_attach(bench->vdev, engine->port[0].ethdev);
	return error;
}

static int open_threads(struct cpu_bench *bench)
{
	int error = gw_stats_open(&bench->stats, bench->engine);

	if (error)
		return error;
	bench->engine->samples = gw_stats_samples(&bench->stats);
	return gw_sweeper_start(&bench->sweeper, bench->engine);
}

/* Sends flows through the workers so that the table knows them. */
static int walk(struct cpu_bench *bench, uint64_t first, uint64_t count, char *message)
{
	const struct vdev_offer offer = {.walk = true, .first = first, .end = first + count};
	int error;

	if (!count)
		return 0;
	error = workers_launch(bench);
	vdev_go(bench->vdev, &offer);
	if (!error)
		error = wait_for(bench, vdev_ended, WALK_SECONDS, message);
	vdev_halt(bench->vdev);
	all_stop(bench);
	return error;
}

static int walk_flows(struct cpu_bench *bench, char *message)
{
	double room = (double)gw_flow_table_capacity(&bench->engine->flows);
	int error = walk(bench, FILL_FIRST, (uint64_t)(room * bench->what.table_fill), message);

	return error ? error : walk(bench, 0, bench->what.flows, message);
}

static void cpu_close(void *state)
{
	struct cpu_bench *bench = state;

	if (!bench)
		return;
	gw_sweeper_stop(bench->sweeper);
	if (bench->engine && bench->engine->port_count)
		gw_port_close(&bench->engine->port[0]);
	vdev_destroy(bench->vdev);
	if (bench->stats.map)
		gw_stats_close(&bench->stats);
	gw_engine_destroy(bench->engine);
	rte_mempool_free(bench->pool);
	free(bench->image[0]);
	free(bench->image[1]);
	free(bench);
}

static int cpu_open(const struct bench_machine *machine, const struct bench_case *what,
	void **state, char message[BENCH_MESSAGE])
{
	struct cpu_bench *bench;
	int error = check_case(machine, what, message);

	if (!error)
		error = dpdk_start(machine, message);
	if (error)
		return error;
	bench = calloc(1, sizeof(*bench));
	if (!bench)
		return -ENOMEM;
	bench->what = *what;
	bench->frames = (struct bench_frames){
		.what = &bench->what,
		.destination_mac = BENCH_OUR_MAC,
		.source_mac = {2, 0, 0, 0, 0, 9},
	};
	error = open_pool(bench, message);
	if (!error)
		error = open_engine(bench, machine, message);
	if (!error)
		error = open_port(bench, message);
	if (!error)
		error = make_images(bench, message);
	if (!error)
		error = open_threads(bench);
	if (!error)
		error = walk_flows(bench, message);
	if (error) {
		cpu_close(bench);
		return error;
	}
	*state = bench;
	return 0;
}

/* Telling --------------------------------------------------------------------------------- */

static void cpu_describe(void *state, json_t *machine, json_t *found)
{
	struct cpu_bench *bench = state;

	json_object_set_new(machine, "driver", json_string("net_null, with bursts from memory"));
	json_object_set_new(machine, "dpdk", json_string(rte_version()));
	json_object_set_new(machine, "pages",
		json_string(rte_eal_has_hugepages() ? "huge"
						    : "transparent huge, where there are any"));
	json_object_set_new(
		machine, "frames", json_string("headers written just before, in the core's cache"));
	json_object_set_new(machine, "burst", json_integer(vdev_burst(bench->vdev)));
	json_object_set_new(found, "flow_table",
		json_integer((json_int_t)gw_flow_table_capacity(&bench->engine->flows)));
}

static int cpu_able(const struct bench_machine *machine, char message[BENCH_MESSAGE])
{
	if (dpdk_cpu(machine, 0) >= 0)
		return 0;
	snprintf(message, BENCH_MESSAGE,
		"CPU %d is not there, or not this process's to use (see `taskset -p $$`)",
		machine->cpu);
	return -EINVAL;
}

const struct bench_runner bench_dpdk_cpu = {
	.path = "dpdk",
	.mode = "cpu",
	.what = "the daemon's workers on a port whose frames come from memory",
	.bound = "receive, swap MACs, send, on the same port",
	.synthetic = true,
	.able = cpu_able,
	.open = cpu_open,
	.measure = cpu_measure,
	.close = cpu_close,
	.hold_swaps = cpu_hold_swaps,
	.describe = cpu_describe,
};
