/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The statistics area is written by another process while it is read: everything is copied between
 * two looks at its sequence number, and every bound is checked against the size that was sealed.
 */
#include "abi/flow_sample.h"
#include "control/publish_dpdk_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>

#define READ_TRIES  200
#define WORKERS_MAX 1024u

int stats_map_open(struct stats_map *stats, int fd)
{
	int seals = fcntl(fd, F_GET_SEALS);
	struct stat file;
	void *map;

	/* Could it shrink, reading it could kill us. */
	if (seals < 0 || !(seals & F_SEAL_SHRINK))
		return -EPROTO;
	if (fstat(fd, &file) < 0)
		return -errno;
	if ((size_t)file.st_size < sizeof(struct gw_stats))
		return -EPROTO;
	map = mmap(NULL, (size_t)file.st_size, PROT_READ, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		return -errno;
	*stats = (struct stats_map){.map = map, .size = (size_t)file.st_size};
	if (stats->map->magic == GW_STATS_MAGIC && stats->map->abi_version == GW_MESSAGE_ABI)
		return 0;
	stats_map_close(stats);
	return -EPROTO;
}

void stats_map_close(struct stats_map *stats)
{
	if (stats->map)
		munmap((void *)stats->map, stats->size);
	free(stats->backends);
	free(stats->backend_flows);
	free(stats->services);
	free(stats->workers);
	free(stats->ports);
	*stats = (struct stats_map){0};
}

int stats_map_samples(
	const struct stats_map *stats, const struct gw_flow_sample **samples, size_t *count)
{
	struct gw_section section = stats->map->flow_samples;

	if (section.count > GW_FLOW_SAMPLES || section.offset > stats->size ||
		section.offset % sizeof(uint64_t) ||
		section.count * sizeof(**samples) > stats->size - section.offset)
		return -EPROTO;
	*samples = (const void *)((const char *)stats->map + section.offset);
	*count = section.count;
	return 0;
}

/* Copies a section into *copy, grown to fit; `count` is what the section says now. */
static int section_copy(const struct stats_map *stats, const struct gw_section *section,
	size_t record_size, uint64_t most, void *copy_pointer, size_t *count)
{
	void **copy = copy_pointer, *grown;
	struct gw_section now = *section;

	if (now.count > most || now.offset > stats->size || now.offset % sizeof(uint32_t) ||
		now.count * record_size > stats->size - now.offset)
		return -EPROTO;
	grown = realloc(*copy, now.count ? now.count * record_size : 1);
	if (!grown)
		return -ENOMEM;
	memcpy(grown, (const char *)stats->map + now.offset, now.count * record_size);
	*copy = grown;
	*count = now.count;
	return 0;
}

static int stats_copy(struct stats_map *stats, struct gw_publisher_stats *out)
{
	struct gw_stats head = *stats->map;
	size_t flows = 0;
	int status = section_copy(stats, &head.backend_traffic, sizeof(*stats->backends),
		GW_MAX_BACKENDS, &stats->backends, &out->backend_count);

	if (!status)
		status = section_copy(stats, &head.backend_flows, sizeof(*stats->backend_flows),
			GW_MAX_BACKENDS, &stats->backend_flows, &flows);
	if (!status)
		status = section_copy(stats, &head.service_traffic, sizeof(*stats->services),
			GW_MAX_SERVICES, &stats->services, &out->service_count);
	if (!status)
		status = section_copy(stats, &head.workers, sizeof(*stats->workers), WORKERS_MAX,
			&stats->workers, &out->worker_count);
	if (!status)
		status = section_copy(stats, &head.ports, sizeof(*stats->ports), GW_HELLO_PORTS,
			&stats->ports, &out->port_count);
	if (status)
		return status;
	for (size_t i = 0; i < out->port_count; i++)
		stats->ports[i].name[GW_PORT_NAME_MAX - 1] = 0;
	if (flows < out->backend_count)
		out->backend_count = flows;
	out->counters = head.counters;
	out->flows_active = head.flows_active;
	out->backends = stats->backends;
	out->backend_flows = stats->backend_flows;
	out->services = stats->services;
	out->workers = stats->workers;
	out->ports = stats->ports;
	return 0;
}

int stats_map_read(struct stats_map *stats, struct gw_publisher_stats *out)
{
	const struct timespec pause = {.tv_nsec = 100000};
	const uint32_t *sequence = &stats->map->sequence;

	for (int i = 0; i < READ_TRIES; i++) {
		struct gw_publisher_stats copy = {0};
		uint32_t before = __atomic_load_n(sequence, __ATOMIC_ACQUIRE);
		int status = before % 2 ? -EAGAIN : stats_copy(stats, &copy);

		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (!(before % 2) && __atomic_load_n(sequence, __ATOMIC_RELAXED) == before) {
			if (!status)
				*out = copy;
			return status;
		}
		nanosleep(&pause, NULL);
	}
	return -EAGAIN;
}
