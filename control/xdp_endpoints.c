/* SPDX-License-Identifier: BSD-2-Clause */
#include "control/xdp_endpoints.h"

#include "xdp_lb.skel.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct gw_xdp_endpoint {
	struct gw_address address;
	struct gw_endpoint endpoint;
};

static int by_address(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct gw_address));
}

/* By address, then by backend. */
static int by_backend(const void *a, const void *b)
{
	const struct gw_xdp_endpoint *left = a, *right = b;
	int order = by_address(a, b);

	return order ? order
		     : (left->endpoint.backend > right->endpoint.backend) -
			       (left->endpoint.backend < right->endpoint.backend);
}

static const struct gw_backend *backends_of(const struct gw_snapshot *snapshot)
{
	return (const void *)((const uint8_t *)snapshot->data + snapshot->data->backends.offset);
}

/* One entry for each address, sorted; the caller frees it. NULL: no memory. */
static struct gw_xdp_endpoint *collect(const struct gw_snapshot *snapshot, size_t *count)
{
	const struct gw_backend *backends = backends_of(snapshot);
	size_t total = snapshot->data->backends.count, found = 0, unique = 0;
	struct gw_xdp_endpoint *list = calloc(total + 1, sizeof(*list));

	for (size_t i = 0; list && i < total; i++) {
		if (backends[i].state == GW_BACKEND_FREE || backends[i].encap == GW_ENCAP_L2)
			continue;
		list[found].address = backends[i].outer_destination;
		list[found].endpoint.backend = (uint32_t)i;
		list[found++].endpoint.modes = (uint8_t)(1u << backends[i].encap);
	}
	if (!list)
		return NULL;
	qsort(list, found, sizeof(*list), by_backend);
	for (size_t i = 0; i < found; i++) {
		if (unique && !by_address(&list[unique - 1], &list[i]))
			list[unique - 1].endpoint.modes |= list[i].endpoint.modes;
		else
			list[unique++] = list[i];
	}
	*count = unique;
	return list;
}

/* A former process's entries; their values are written again. */
static int read_map(struct gw_xdp_endpoints *endpoints, int fd)
{
	size_t room = GW_XDP_BACKENDS;
	struct gw_xdp_endpoint *list = calloc(room, sizeof(*list));
	size_t count = 0;

	if (!list)
		return -ENOMEM;
	while (count < room && !bpf_map_get_next_key(fd, count ? &list[count - 1].address : NULL,
				       &list[count].address))
		count++;
	qsort(list, count, sizeof(*list), by_address);
	endpoints->list = list;
	endpoints->count = count;
	endpoints->read = true;
	return 0;
}

static int write_all(int fd, const struct gw_xdp_endpoint *list, size_t count)
{
	LIBBPF_OPTS(bpf_map_batch_opts, options);
	struct gw_address *keys = calloc(count + 1, sizeof(*keys));
	struct gw_endpoint *values = calloc(count + 1, sizeof(*values));
	uint32_t done = (uint32_t)count;
	int error = keys && values ? 0 : -ENOMEM;

	for (size_t i = 0; i < count && !error; i++) {
		keys[i] = list[i].address;
		values[i] = list[i].endpoint;
	}
	if (!error && count && bpf_map_update_batch(fd, keys, values, &done, &options))
		error = -errno;
	free(keys);
	free(values);
	return error;
}

static void write_sources(struct gw_xdp_config *config, const struct gw_snapshot *snapshot)
{
	const struct gw_backend *backends = backends_of(snapshot);
	struct gw_tunnel_source sources[GW_PATH_MTU_SOURCES] = {};

	for (size_t i = 0; i < snapshot->data->backends.count; i++)
		gw_tunnel_source_add(sources, &backends[i]);
	/* A reader in between may take one source for none, and not believe one message. */
	memcpy(config->source, sources, sizeof(sources));
}

int gw_xdp_endpoints_publish(struct gw_xdp_endpoints *endpoints, struct gw_xdp_object *object,
	const struct gw_snapshot *snapshot)
{
	int fd = bpf_map__fd(object->skeleton->maps.gw_endpoints), error = 0;
	struct gw_xdp_endpoint *wanted;
	size_t count = 0;

	write_sources(object->config, snapshot);
	if (!endpoints->read)
		error = read_map(endpoints, fd);
	if (error)
		return error;
	wanted = collect(snapshot, &count);
	if (!wanted)
		return -ENOMEM;
	if (count == endpoints->count &&
		!memcmp(wanted, endpoints->list, count * sizeof(*wanted))) {
		free(wanted);
		return 0;
	}
	error = write_all(fd, wanted, count);
	if (error) {
		free(wanted);
		return error;
	}
	for (size_t i = 0; i < endpoints->count; i++)
		if (!count ||
			!bsearch(&endpoints->list[i], wanted, count, sizeof(*wanted), by_address))
			bpf_map_delete_elem(fd, &endpoints->list[i].address);
	free(endpoints->list);
	endpoints->list = wanted;
	endpoints->count = count;
	return 0;
}

void gw_xdp_endpoints_fini(struct gw_xdp_endpoints *endpoints)
{
	free(endpoints->list);
	*endpoints = (struct gw_xdp_endpoints){};
}
