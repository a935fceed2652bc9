/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The subject: one process with the dataplane's engine on the port under test, whose workers run
 * gw_worker_run, the program's own loop, with the sweeper beside them; or, in their place and on
 * the same queues, the bound. What guideway-dataplane has and this has not: the control socket
 * (the snapshots come from bench_build) and the host thread (the next hops are given).
 */
#include "bench/core/clock.h"
#include "bench/dpdk/forwarder.h"
#include "control/builder.h"
#include "control/publisher.h"
#include "dataplane/engine.h"
#include "dataplane/snapshot.h"
#include "dataplane/sweeper.h"
#include "eal.h"

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_launch.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define POOL_CACHE     256
#define BUFFERS_WORKER 8192
#define MEGABYTES      320 /* without the flow table and the tables of slots */
#define BACKEND_BYTES  512
#define NS_PER_SECOND  1000000000

struct subject {
	struct bench_link_setup setup;
	struct gw_engine *engine;
	struct gw_sweeper *sweeper;
	uint16_t mtu;		   /* the port's own, when it was changed; 0: it was not */
	struct gw_build *build[2]; /* put in force in turn */
	uint64_t version;	   /* of the latest */
	bool running;
	enum bench_subject as;
	struct forwarder forwarder[GW_WORKERS_MAX];
	struct gw_worker_stats before[GW_WORKERS_MAX];
	uint64_t swaps;
	uint64_t next_swap_ns;
};

static struct subject subject;

/* ---- snapshots */

/* The next version of the model, which differs from the one in force by a weight. */
static int put_in_force(char message[BENCH_MESSAGE])
{
	static struct gw_message_snapshot_reply reply;
	struct gw_build *build = subject.build[subject.version % 2];
	struct gw_snapshot_header *image;

	gw_build_renumber(build, subject.version + 1);
	image = gw_snapshot_image_whole(build->snapshot);
	if (!image)
		return -ENOMEM;
	gw_snapshot_load_image(subject.engine, image, image->total_size, &reply);
	free(image);
	if (reply.result != GW_SNAPSHOT_IN_FORCE) {
		snprintf(message, BENCH_MESSAGE, "the dataplane refuses the case: %s", reply.text);
		return -EINVAL;
	}
	subject.version++;
	gw_engine_reclaim(subject.engine);
	return 0;
}

static int make_builds(char message[BENCH_MESSAGE])
{
	int count = subject.setup.what.swaps_per_second ? 2 : 1;
	int error = 0;

	for (int i = 0; i < count && !error; i++)
		error = bench_build(
			&subject.setup.what, (uint32_t)i + 1, &subject.build[i], message);
	return error ? error : put_in_force(message);
}

/* ---- opening */

/* The flow table's room is rounded up to a power of two; a table of slots may be there three times
 * while one is swapped. */
static uint64_t megabytes(const struct bench_case *what)
{
	uint64_t bytes = what->table_flows * 2 * sizeof(uint64_t);

	bytes += (uint64_t)what->pools *
		 (what->table_size * sizeof(uint16_t) + what->backends * BACKEND_BYTES) * 4;
	bytes += (uint64_t)what->workers * BUFFERS_WORKER * (RTE_MBUF_DEFAULT_BUF_SIZE + 128);
	return MEGABYTES + (bytes >> 20);
}

static int open_engine(char message[BENCH_MESSAGE])
{
	const struct bench_case *what = &subject.setup.what;
	uint32_t cpus[GW_WORKERS_MAX];
	struct gw_engine_options options = {.flows = what->table_flows,
		.worker_count = (uint16_t)what->workers,
		.cpus = cpus,
		.busy_poll = !what->adaptive};
	int error;

	for (uint32_t i = 0; i < what->workers; i++)
		cpus[i] = (uint32_t)subject.setup.cpu + i;
	error = gw_engine_create(&subject.engine, &options);
	if (error)
		snprintf(message, BENCH_MESSAGE,
			"no memory for %" PRIu64 " flows: %s; give more behind --, for instance "
			"-m 4096, or reserve huge pages",
			options.flows, strerror(-error));
	return error;
}

static int open_port(const char *name, struct bench_port_facts *facts, char message[BENCH_MESSAGE])
{
	static const struct rte_ether_addr our_mac = {BENCH_OUR_MAC};
	struct gw_engine *engine = subject.engine;
	struct gw_port *port = &engine->port[0];
	struct gw_port_spec spec = {};
	int error;

	snprintf(spec.name, sizeof(spec.name), "%.*s", (int)sizeof(spec.name) - 1, name);
	engine->pool = rte_pktmbuf_pool_create("frames", engine->worker_count * BUFFERS_WORKER - 1,
		POOL_CACHE, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
	if (!engine->pool) {
		snprintf(message, BENCH_MESSAGE, "the subject has no memory for frames: %s",
			rte_strerror(rte_errno));
		return -ENOMEM;
	}
	error = gw_port_open(port, &spec, 0, engine->worker_count, engine->pool);
	if (!error &&
		bench_port_widen(port->ethdev, &subject.setup.what, &subject.mtu, message) != 0)
		return -EINVAL;
	port->mtu = BENCH_MTU;
	if (!error)
		error = gw_port_start(port);
	if (error) {
		snprintf(message, BENCH_MESSAGE, "the subject's port %.64s does not start: %s",
			name, rte_strerror(-error));
		return error;
	}
	engine->port_count = 1;
	/* The model's MAC. A port that cannot have it takes all frames instead. */
	if (rte_eth_dev_default_mac_addr_set(
		    port->ethdev, (struct rte_ether_addr *)(uintptr_t)&our_mac) != 0)
		rte_eth_promiscuous_enable(port->ethdev);
	port->mac = our_mac;
	gw_engine_connect(engine);
	bench_port_describe(port->ethdev, facts);
	return 0;
}

static int open_subject(struct bench_answer *answer)
{
	const struct bench_case *what = &subject.setup.what;
	char name[BENCH_PORT_TEXT];
	int error = bench_eal_start(&subject.setup, "subject", subject.setup.main_cpu,
		what->workers, megabytes(what), name, answer->message);

	if (!error)
		error = open_engine(answer->message);
	if (!error)
		error = open_port(name, &answer->port, answer->message);
	if (!error)
		error = make_builds(answer->message);
	if (!error)
		error = gw_sweeper_start(&subject.sweeper, subject.engine);
	return error;
}

/* ---- running */

static int start_workers(enum bench_subject as)
{
	struct gw_engine *engine = subject.engine;
	int error = 0;

	subject.as = as;
	subject.swaps = 0;
	subject.next_swap_ns = bench_clock_ns();
	for (uint16_t i = 0; i < engine->worker_count && !error; i++) {
		subject.before[i] = engine->worker[i]->stats;
		subject.forwarder[i] =
			(struct forwarder){.ethdev = engine->port[0].ethdev, .queue = i};
		__atomic_store_n(&engine->worker[i]->stop, false, __ATOMIC_RELAXED);
		error = as == BENCH_BALANCER
				? rte_eal_remote_launch(gw_worker_run, engine->worker[i], i + 1u)
				: rte_eal_remote_launch(
					  forwarder_run, &subject.forwarder[i], i + 1u);
	}
	subject.running = true;
	return error;
}

static void stop_workers(void)
{
	if (!subject.running)
		return;
	for (uint16_t i = 0; i < subject.engine->worker_count; i++) {
		__atomic_store_n(&subject.engine->worker[i]->stop, true, __ATOMIC_RELAXED);
		__atomic_store_n(&subject.forwarder[i].stop, true, __ATOMIC_RELAXED);
	}
	rte_eal_mp_wait_lcore();
	gw_engine_reclaim(subject.engine);
	subject.running = false;
}

static void note(struct bench_counted *counted, const char *name, uint64_t count)
{
	size_t used = strlen(counted->note);

	if (count)
		snprintf(counted->note + used, sizeof(counted->note) - used, "%s%s %" PRIu64,
			used ? ", " : "", name, count);
}

static void add_worker(struct bench_counted *counted, const struct gw_worker_stats *now,
	const struct gw_worker_stats *before)
{
	static const char *const names[] = {
#define DROP_NAME(NAME, name, text) name,
		GW_DROP_REASONS(DROP_NAME)
#undef DROP_NAME
	};
	const struct gw_counters *a = &before->counters, *b = &now->counters;

	/*
	 * What others send to the port is the host's, or our own frame seen again, and no part of
	 * the figure. If a frame of ours were among it, it would be missing at the generator.
	 */
	uint64_t others = b->to_host - a->to_host + b->consumed - a->consumed;

	counted->rx += b->rx - a->rx - others;
	note(counted, "to_host or consumed", others);
	/* What was handed over and then refused did not leave. */
	counted->tx += b->tx - a->tx - (b->tx_full - a->tx_full);
	counted->drops += b->tx_full - a->tx_full;
	note(counted, "tx_full", b->tx_full - a->tx_full);
	counted->other += b->replied - a->replied + b->held - a->held;
	note(counted, "replied", b->replied - a->replied);
	for (int i = 0; i < GW_DROP_COUNT; i++) {
		counted->drops += b->drops[i] - a->drops[i];
		note(counted, names[i], b->drops[i] - a->drops[i]);
	}
	counted->flows_new += b->flows_new - a->flows_new;
	counted->untracked += b->untracked - a->untracked;
	counted->remembered += b->flows_new;
	counted->busy_cycles += now->busy_cycles - before->busy_cycles;
	counted->total_cycles += now->total_cycles - before->total_cycles;
}

static void count(struct bench_counted *counted)
{
	for (uint16_t i = 0; i < subject.engine->worker_count; i++) {
		const struct forwarder *forwarder = &subject.forwarder[i];

		if (subject.as == BENCH_BALANCER) {
			add_worker(counted, &subject.engine->worker[i]->stats, &subject.before[i]);
			continue;
		}
		counted->rx += forwarder->received;
		counted->tx += forwarder->sent;
		counted->drops += forwarder->received - forwarder->sent;
		note(counted, "tx_full", forwarder->received - forwarder->sent);
		counted->busy_cycles += forwarder->busy_cycles;
		counted->total_cycles += forwarder->total_cycles;
	}
	counted->swaps = subject.swaps;
}

/* Swaps that are due; returns how long until the next one, -1 for ever. */
static int swap_due(void)
{
	uint32_t rate = subject.setup.what.swaps_per_second;
	char message[BENCH_MESSAGE];
	uint64_t now;

	if (!rate || !subject.running || subject.as != BENCH_BALANCER)
		return -1;
	now = bench_clock_ns();
	if (now >= subject.next_swap_ns) {
		if (put_in_force(message) == 0)
			subject.swaps++;
		subject.next_swap_ns += NS_PER_SECOND / rate;
		return 0;
	}
	return (int)((subject.next_swap_ns - now) / 1000000);
}

static void answer_ask(const struct bench_ask *ask)
{
	static struct bench_answer answer;

	memset(&answer, 0, sizeof(answer));
	switch (ask->kind) {
	case BENCH_ASK_START:
		stop_workers();
		answer.error = start_workers(ask->subject);
		if (answer.error)
			snprintf(answer.message, sizeof(answer.message),
				"the subject's workers do not start: %s", strerror(-answer.error));
		break;
	case BENCH_ASK_STOP:
		stop_workers();
		count(&answer.counted);
		break;
	default:
		answer.error = -EINVAL;
		snprintf(answer.message, sizeof(answer.message), "not for the subject");
	}
	bench_child_answer(&answer);
}

static void close_subject(void)
{
	stop_workers();
	gw_sweeper_stop(subject.sweeper);
	if (subject.engine && subject.engine->port_count) {
		rte_eth_dev_stop(subject.engine->port[0].ethdev);
		bench_port_restore(subject.engine->port[0].ethdev, subject.mtu);
		gw_port_close(&subject.engine->port[0]);
	}
	gw_engine_destroy(subject.engine);
	gw_build_free(subject.build[0]);
	gw_build_free(subject.build[1]);
	rte_eal_cleanup();
}

int bench_subject_main(void)
{
	static struct bench_answer answer;
	struct bench_ask ask;
	int error;

	if (bench_child_setup(&subject.setup))
		return 2;
	answer.error = open_subject(&answer);
	bench_child_answer(&answer);
	error = answer.error;
	while (!error || error == -EAGAIN || error == -EINTR) {
		error = bench_child_ask(&ask, swap_due());
		if (!error)
			answer_ask(&ask);
	}
	close_subject();
	return answer.error ? 1 : 0;
}
