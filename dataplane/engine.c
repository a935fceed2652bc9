/* SPDX-License-Identifier: BSD-2-Clause */
#include "engine.h"

#include "departure.h"
#include "fragment.h"
#include "memory.h"
#include "service_seen.h"

#include <rte_eal.h>
#include <rte_malloc.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#define RING_SIZE     1024
#define NS_PER_SECOND 1000000000u

/* Of a port's buffers, fragments that wait for their first may take one in so many. */
#define HELD_SHARE 8

uint32_t gw_clock_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint32_t)now.tv_sec;
}

static uint64_t clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * NS_PER_SECOND + (uint64_t)now.tv_nsec;
}

/* NUMA node of a CPU by the kernel's word; 0 where there is only one. */
static int cpu_socket(uint32_t cpu)
{
	char path[96];

	for (int node = 0; node < RTE_MAX_NUMA_NODES; node++) {
		snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/node%d", cpu, node);
		if (access(path, F_OK) == 0)
			return node;
	}
	return 0;
}

static void worker_destroy(struct gw_worker *worker)
{
	if (!worker)
		return;
	if (worker->hold)
		gw_fragment_free(worker->hold);
	rte_ring_free(worker->to_host);
	rte_ring_free(worker->from_host);
	gw_memory_free(worker->departure, GW_MAX_BACKENDS * sizeof(*worker->departure));
	gw_memory_free(worker->service_traffic, GW_MAX_SERVICES * sizeof(*worker->service_traffic));
	gw_memory_free(worker->service_brief, GW_MAX_SERVICES * sizeof(*worker->service_brief));
	gw_memory_free(worker->scratch, GW_SCRATCH_SIZE);
	gw_memory_free(worker->service_seen, GW_SERVICE_SEEN_MAX * sizeof(*worker->service_seen));
	gw_memory_free(worker->hold, sizeof(*worker->hold));
	if (worker->wake_fd >= 0)
		close(worker->wake_fd);
	gw_memory_free(worker, sizeof(*worker));
}

static struct rte_ring *ring_create(
	const struct gw_worker *worker, const char *kind, unsigned int flags)
{
	char name[RTE_RING_NAMESIZE];

	snprintf(name, sizeof(name), "gw_%s_%u", kind, worker->index);
	return rte_ring_create(name, RING_SIZE, worker->socket, flags);
}

static struct gw_worker *worker_create(
	struct gw_engine *engine, uint32_t index, const struct gw_engine_options *options)
{
	int socket = cpu_socket(options->cpus[index]);
	struct gw_worker *worker = gw_memory_alloc(sizeof(*worker), socket);

	if (!worker)
		return NULL;
	worker->engine = engine;
	worker->index = index;
	worker->cpu = worker->stats.cpu = options->cpus[index];
	worker->socket = socket;
	worker->busy_poll = options->busy_poll;
	worker->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	worker->to_host = ring_create(worker, "to_host", RING_F_SP_ENQ | RING_F_SC_DEQ);
	worker->from_host = ring_create(worker, "from_host", RING_F_SP_ENQ | RING_F_SC_DEQ);
	worker->departure = gw_memory_alloc(GW_MAX_BACKENDS * sizeof(*worker->departure), socket);
	worker->service_traffic =
		gw_memory_alloc(GW_MAX_SERVICES * sizeof(*worker->service_traffic), socket);
	worker->service_brief =
		gw_memory_alloc(GW_MAX_SERVICES * sizeof(*worker->service_brief), socket);
	worker->scratch = gw_memory_alloc(GW_SCRATCH_SIZE, socket);
	worker->service_seen =
		gw_memory_alloc(GW_SERVICE_SEEN_MAX * sizeof(*worker->service_seen), socket);
	worker->hold = gw_memory_alloc(sizeof(*worker->hold), socket);
	if (worker->wake_fd < 0 || !worker->to_host || !worker->from_host || !worker->departure ||
		!worker->service_traffic || !worker->service_brief || !worker->scratch ||
		!worker->service_seen || !worker->hold) {
		worker_destroy(worker);
		return NULL;
	}
	worker->now_ns = clock_ns();
	worker->now = (uint32_t)(worker->now_ns / NS_PER_SECOND);
	return worker;
}

static int rcu_create(struct gw_engine *engine)
{
	size_t size = rte_rcu_qsbr_get_memsize(GW_RCU_READERS);

	engine->rcu = gw_memory_alloc(size, 0);
	if (!engine->rcu)
		return -ENOMEM;
	return rte_rcu_qsbr_init(engine->rcu, GW_RCU_READERS) ? -EINVAL : 0;
}

int gw_engine_create(struct gw_engine **out, const struct gw_engine_options *options)
{
	struct gw_engine *engine;
	int error;

	if (!options->worker_count || options->worker_count > GW_WORKERS_MAX)
		return -EINVAL;
	engine = aligned_alloc(GW_CACHE_LINE, sizeof(*engine));
	if (!engine)
		return -ENOMEM;
	memset(engine, 0, sizeof(*engine));
	engine->start_time_ns = clock_ns();
	error = rcu_create(engine);
	if (!error)
		error = gw_flow_table_init(
			&engine->flows, options->flows, cpu_socket(options->cpus[0]));
	if (!error)
		error = gw_fragment_table_init(
			&engine->fragments, ~engine->flows.seed, cpu_socket(options->cpus[0]));
	if (!error)
		error = gw_next_hops_init(&engine->hops);
	if (error)
		goto fail;
	engine->backend_flows =
		gw_memory_alloc(GW_MAX_BACKENDS * sizeof(*engine->backend_flows), 0);
	error = engine->backend_flows ? 0 : -ENOMEM;
	while (!error && engine->worker_count < options->worker_count) {
		struct gw_worker *worker = worker_create(engine, engine->worker_count, options);

		if (worker)
			engine->worker[engine->worker_count++] = worker;
		else
			error = -ENOMEM;
	}
	if (error)
		goto fail;
	*out = engine;
	return 0;

fail:
	gw_engine_destroy(engine);
	return error;
}

/* How many fragments a worker may hold, so that the ports always have buffers left. */
static uint16_t hold_room(const struct gw_engine *engine)
{
	uint32_t share = engine->pool ? engine->pool->size / HELD_SHARE / engine->worker_count : 0;

	return (uint16_t)(share < GW_HELD_MAX ? share : GW_HELD_MAX);
}

void gw_engine_connect(struct gw_engine *engine)
{
	for (uint16_t w = 0; w < engine->worker_count; w++) {
		engine->worker[w]->hold->room = hold_room(engine);
		for (uint16_t p = 0; p < engine->port_count; p++) {
			struct gw_tx_buffer *buffer = &engine->worker[w]->tx[p];

			buffer->ethdev = engine->port[p].ethdev;
			buffer->queue = w;
			buffer->count = 0;
		}
	}
}

const struct gw_flow_timeouts *gw_engine_timeouts(const struct gw_engine *engine)
{
	const struct gw_view *view =
		gw_generation_view(__atomic_load_n(&engine->generation, __ATOMIC_ACQUIRE));

	return view ? &view->timeouts : NULL;
}

void gw_engine_swap(struct gw_engine *engine, struct gw_generation *generation)
{
	struct gw_generation *old =
		__atomic_exchange_n(&engine->generation, generation, __ATOMIC_ACQ_REL);

	if (!old)
		return;
	old->token = rte_rcu_qsbr_start(engine->rcu);
	old->next_retired = engine->retired;
	engine->retired = old;
}

unsigned int gw_engine_reclaim(struct gw_engine *engine)
{
	struct gw_generation **link = &engine->retired;
	unsigned int waiting = 0;

	while (*link) {
		struct gw_generation *generation = *link;

		if (rte_rcu_qsbr_check(engine->rcu, generation->token, false)) {
			*link = generation->next_retired;
			gw_generation_free(generation);
		} else {
			link = &generation->next_retired;
			waiting++;
		}
	}
	return waiting;
}

void gw_engine_destroy(struct gw_engine *engine)
{
	if (!engine)
		return;
	while (engine->retired) {
		struct gw_generation *generation = engine->retired;

		engine->retired = generation->next_retired;
		gw_generation_free(generation);
	}
	gw_generation_free(engine->generation);
	for (uint16_t i = 0; i < engine->worker_count; i++)
		worker_destroy(engine->worker[i]);
	gw_next_hops_fini(&engine->hops);
	gw_flow_table_fini(&engine->flows);
	gw_fragment_table_fini(&engine->fragments);
	gw_memory_free(engine->backend_flows, GW_MAX_BACKENDS * sizeof(*engine->backend_flows));
	if (engine->rcu)
		gw_memory_free(engine->rcu, rte_rcu_qsbr_get_memsize(GW_RCU_READERS));
	free(engine);
}
