/* SPDX-License-Identifier: BSD-2-Clause */
#include "stats.h"

#include "abi/flow_sample.h"
#include "departure.h"
#include "engine.h"
#include "service_traffic.h"

#include <rte_ethdev.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* Only what ids in use reach is ever written: the file is sparse. */
static uint64_t section_place(
	struct gw_section *section, uint64_t at, uint64_t records, size_t size)
{
	section->offset = at;
	return at + ((records * size + GW_CACHE_LINE - 1) & ~(uint64_t)(GW_CACHE_LINE - 1));
}

static uint64_t layout(struct gw_stats *stats, const struct gw_engine *engine)
{
	uint64_t end = (sizeof(*stats) + GW_CACHE_LINE - 1) & ~(uint64_t)(GW_CACHE_LINE - 1);

	end = section_place(
		&stats->workers, end, engine->worker_count, sizeof(struct gw_worker_stats));
	end = section_place(
		&stats->service_traffic, end, GW_MAX_SERVICES, sizeof(struct gw_traffic));
	end = section_place(&stats->backend_flows, end, GW_MAX_BACKENDS, sizeof(uint32_t));
	end = section_place(
		&stats->backend_traffic, end, GW_MAX_BACKENDS, sizeof(struct gw_traffic));
	end = section_place(&stats->ports, end, engine->port_count, sizeof(struct gw_port_stats));
	end = section_place(
		&stats->flow_samples, end, GW_FLOW_SAMPLES, sizeof(struct gw_flow_sample));
	stats->flow_samples.count = GW_FLOW_SAMPLES;
	stats->workers.count = engine->worker_count;
	stats->ports.count = engine->port_count;
	return end;
}

int gw_stats_open(struct gw_stats_area *area, const struct gw_engine *engine)
{
	struct gw_stats head = {.magic = GW_STATS_MAGIC, .abi_version = GW_MESSAGE_ABI};
	struct gw_stats_area made = {.fd = -1};
	int error;

	head.total_size = made.size = layout(&head, engine);
	made.fd = memfd_create("guideway-stats", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (made.fd < 0)
		return -errno;
	if (ftruncate(made.fd, (off_t)made.size) < 0)
		goto fail;
	made.map = mmap(NULL, made.size, PROT_READ | PROT_WRITE, MAP_SHARED, made.fd, 0);
	if (made.map == MAP_FAILED)
		goto fail;
	*made.map = head;
	/* Our own mapping stays writable; none made from now on is. */
	if (fcntl(made.fd, F_ADD_SEALS,
		    F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL) < 0)
		goto fail_unmap;
	*area = made;
	gw_stats_update(area, engine);
	return 0;

fail_unmap:
	error = -errno;
	munmap(made.map, made.size);
	close(made.fd);
	return error;
fail:
	error = -errno;
	close(made.fd);
	return error;
}

struct gw_flow_sample *gw_stats_samples(struct gw_stats_area *area)
{
	return (void *)((uint8_t *)area->map + area->map->flow_samples.offset);
}

void gw_stats_close(struct gw_stats_area *area)
{
	if (!area->map)
		return;
	munmap(area->map, area->size);
	close(area->fd);
	gw_stats_owners_free(&area->backends);
	gw_stats_owners_free(&area->services);
	area->map = NULL;
}

static uint64_t load(const uint64_t *counter)
{
	return __atomic_load_n(counter, __ATOMIC_RELAXED);
}

/* struct gw_counters is nothing but 64-bit words. */
static void counters_add(struct gw_counters *sum, const struct gw_counters *one)
{
	uint64_t *to = (uint64_t *)sum;
	const uint64_t *from = (const uint64_t *)one;

	for (size_t i = 0; i < sizeof(*sum) / sizeof(*to); i++)
		to[i] += load(&from[i]);
}

static void sum_workers(
	struct gw_stats *stats, struct gw_worker_stats *workers, const struct gw_engine *engine)
{
	stats->counters = (struct gw_counters){};
	for (uint16_t i = 0; i < engine->worker_count; i++) {
		const struct gw_worker_stats *from = &engine->worker[i]->stats;

		workers[i] = (struct gw_worker_stats){
			.cpu = from->cpu,
			.asleep = __atomic_load_n(&from->asleep, __ATOMIC_RELAXED),
			.busy_cycles = load(&from->busy_cycles),
			.total_cycles = load(&from->total_cycles),
		};
		counters_add(&workers[i].counters, &from->counters);
		counters_add(&stats->counters, &workers[i].counters);
	}
}

static struct gw_traffic sum_backend(const struct gw_engine *engine, uint32_t id)
{
	struct gw_traffic sum = {};

	for (uint16_t i = 0; i < engine->worker_count; i++) {
		const struct gw_departure *from = &engine->worker[i]->departure[id];

		sum.packets += load(&from->packets);
		sum.bytes += load(&from->bytes);
		sum.flows_new += load(&from->flows_new);
	}
	return sum;
}

static struct gw_traffic sum_service(const struct gw_engine *engine, uint32_t id)
{
	struct gw_traffic sum = {};

	for (uint16_t i = 0; i < engine->worker_count; i++) {
		struct gw_traffic one = gw_service_traffic_read(engine->worker[i], id);

		sum.packets += one.packets;
		sum.bytes += one.bytes;
		sum.flows_new += one.flows_new;
	}
	return sum;
}

static void *section_at(struct gw_stats *stats, const struct gw_section *section)
{
	return (uint8_t *)stats + section->offset;
}

/* What ethdevs count by themselves; asking a driver may take system calls. */
static void count_ports(struct gw_port_stats *ports, const struct gw_engine *engine)
{
	for (uint16_t i = 0; i < engine->port_count; i++) {
		struct rte_eth_stats now;

		memcpy(ports[i].name, engine->port[i].name, sizeof(ports[i].name));
		if (rte_eth_stats_get(engine->port[i].ethdev, &now))
			continue;
		ports[i].rx_missed = now.imissed;
		ports[i].rx_dropped = now.rx_nombuf;
		ports[i].rx_errors = now.ierrors;
		ports[i].tx_errors = now.oerrors;
	}
}

static void count_backends(
	struct gw_stats_area *area, const struct gw_engine *engine, const struct gw_view *view)
{
	struct gw_traffic *backend = section_at(area->map, &area->map->backend_traffic);
	uint32_t *flows = section_at(area->map, &area->map->backend_flows);

	gw_stats_owners_fit(&area->backends, view->backend_count);
	for (uint32_t i = 0; i < view->backend_count; i++) {
		backend[i] = gw_stats_owner_backend(
			&area->backends, i, &view->backend[i], sum_backend(engine, i));
		flows[i] = __atomic_load_n(&engine->backend_flows[i], __ATOMIC_RELAXED);
	}
}

static void count_services(
	struct gw_stats_area *area, const struct gw_engine *engine, const struct gw_view *view)
{
	struct gw_traffic *service = section_at(area->map, &area->map->service_traffic);

	gw_stats_owners_fit(&area->services, view->service_count);
	for (uint32_t i = 0; i < area->services.count; i++) {
		bool known = i < view->service_count;
		struct gw_traffic traffic = gw_stats_owner_service(&area->services, i,
			known && view->service[i].pool != GW_NONE, sum_service(engine, i));

		if (known)
			service[i] = traffic;
	}
}

static const struct gw_view *any_view(const struct gw_engine *engine)
{
	for (int i = 0; engine->generation && i < RTE_MAX_NUMA_NODES; i++)
		if (engine->generation->view[i])
			return engine->generation->view[i];
	return NULL;
}

void gw_stats_update(struct gw_stats_area *area, const struct gw_engine *engine)
{
	struct gw_stats *stats = area->map;
	struct gw_port_stats ports[GW_PORTS_MAX] = {};
	const struct gw_view *view = any_view(engine);
	struct timespec now;

	count_ports(ports, engine);
	clock_gettime(CLOCK_MONOTONIC, &now);
	__atomic_store_n(&stats->sequence, stats->sequence + 1, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	stats->updated_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	stats->snapshot_version = engine->generation ? engine->generation->version : 0;
	stats->flows_active = load(&engine->flows_active);
	stats->backend_traffic.count = stats->backend_flows.count = view ? view->backend_count : 0;
	stats->service_traffic.count = view ? view->service_count : 0;
	sum_workers(stats, section_at(stats, &stats->workers), engine);
	memcpy(section_at(stats, &stats->ports), ports, engine->port_count * sizeof(ports[0]));
	if (view) {
		count_backends(area, engine, view);
		count_services(area, engine, view);
	}
	__atomic_store_n(&stats->sequence, stats->sequence + 1, __ATOMIC_RELEASE);
}
