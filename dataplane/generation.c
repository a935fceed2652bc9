/* SPDX-License-Identifier: BSD-2-Clause */
#include "generation.h"

#include "abi/fragment.h"
#include "memory.h"
#include "next_hop.h"
#include "service.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const void *section(const struct gw_snapshot_header *image, const struct gw_section *at)
{
	return (const uint8_t *)image + at->offset;
}

/* Tables ----------------------------------------------------------------------------------- */

static size_t table_bytes(uint32_t size)
{
	return sizeof(struct gw_table) + (size_t)size * sizeof(uint16_t);
}

static struct gw_table *table_copy(
	const struct gw_snapshot_header *image, const struct gw_pool *pool, int socket)
{
	const uint16_t *slot = (const void *)((const uint8_t *)image + pool->table_offset);
	struct gw_table *table = gw_memory_alloc(table_bytes(pool->table_size), socket);
	uint16_t most = 0;

	if (!table)
		return NULL;
	table->references = 1;
	table->size = pool->table_size;
	table->socket = socket;
	table->digest = pool->digest;
	memcpy(table->slot, slot, pool->table_size * sizeof(*slot));
	for (uint32_t i = 0; i < pool->table_size; i++)
		most = slot[i] > most ? slot[i] : most;
	table->slot_max = most;
	return table;
}

static void table_drop(struct gw_table *table)
{
	if (table && --table->references == 0)
		gw_memory_free(table, table_bytes(table->size));
}

static bool table_fits(const struct gw_table *table, const struct gw_pool *pool)
{
	return table && table->size == pool->table_size && table->slot_max < pool->member_count &&
	       memcmp(&table->digest, &pool->digest, sizeof(pool->digest)) == 0;
}

/* The table of this digest in an older view: mostly under the same pool id. */
static struct gw_table *table_find(const struct gw_view *view, const struct gw_pool *pool)
{
	if (!view)
		return NULL;
	if (pool->id < view->pool_count && table_fits(view->pool[pool->id].table, pool))
		return view->pool[pool->id].table;
	for (uint32_t i = 0; i < view->pool_count; i++)
		if (table_fits(view->pool[i].table, pool))
			return view->pool[i].table;
	return NULL;
}

const struct gw_view *gw_generation_view(const struct gw_generation *generation)
{
	for (int i = 0; generation && i < RTE_MAX_NUMA_NODES; i++)
		if (generation->view[i])
			return generation->view[i];
	return NULL;
}

uint32_t gw_generation_missing(const struct gw_snapshot_header *image,
	const struct gw_generation *previous, uint32_t *missing)
{
	const struct gw_pool *pool = section(image, &image->pools);
	const struct gw_view *view = gw_generation_view(previous);
	uint32_t count = 0;

	for (uint64_t i = 0; i < image->pools.count; i++)
		if (pool[i].member_count && !pool[i].table_offset && !table_find(view, &pool[i]))
			missing[count++] = pool[i].id;
	return count;
}

/* Views ------------------------------------------------------------------------------------ */

/* Places one array after the other in a view's block; the first round only adds up the sizes. */
struct layout {
	uint8_t *base; /* NULL in the first round */
	size_t used;
};

static void *place(struct layout *layout, size_t count, size_t record)
{
	void *at = layout->base ? layout->base + layout->used : NULL;

	layout->used += (count * record + GW_CACHE_LINE - 1) & ~(size_t)(GW_CACHE_LINE - 1);
	return at;
}

struct arrays {
	struct gw_view *view;
	struct gw_vip *vip;
	struct gw_span *span;
	struct gw_service *service;
	struct gw_backend *backend;
	struct gw_view_pool *pool;
	uint32_t *member;
	struct gw_view_endpoint *endpoint;
};

static uint32_t pool_count(const struct gw_snapshot_header *image)
{
	const struct gw_pool *pool = section(image, &image->pools);
	uint32_t count = 0;

	for (uint64_t i = 0; i < image->pools.count; i++)
		if (pool[i].id >= count)
			count = pool[i].id + 1;
	return count;
}

static struct arrays place_all(struct layout *layout, const struct gw_snapshot_header *image)
{
	struct arrays arrays;

	arrays.view = place(layout, 1, sizeof(*arrays.view));
	arrays.vip = place(layout, image->vips.count, sizeof(*arrays.vip));
	arrays.span = place(layout, image->spans.count, sizeof(*arrays.span));
	arrays.service = place(layout, image->services.count, sizeof(*arrays.service));
	arrays.backend = place(layout, image->backends.count, sizeof(*arrays.backend));
	arrays.pool = place(layout, pool_count(image), sizeof(*arrays.pool));
	arrays.member = place(layout, image->members.count, sizeof(*arrays.member));
	arrays.endpoint = place(layout, image->next_hops.count, sizeof(*arrays.endpoint));
	return arrays;
}

static void copy_section(void *to, const struct gw_snapshot_header *image,
	const struct gw_section *at, size_t record)
{
	if (at->count)
		memcpy(to, section(image, at), at->count * record);
}

/* Backends name next hops by their place in the image; here by their live entry. */
static void copy_backends(struct gw_backend *backend, const struct gw_snapshot_header *image,
	const struct gw_generation *generation)
{
	copy_section(backend, image, &image->backends, sizeof(*backend));
	for (uint64_t i = 0; i < image->backends.count; i++)
		backend[i].next_hop =
			backend[i].state == GW_BACKEND_FREE || backend[i].next_hop == GW_NONE
				? 0
				: generation->hop[backend[i].next_hop];
}

static int by_address(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct gw_address));
}

/* One for each next hop of the image, in its order, which control sorts by address. */
static void fill_endpoints(struct arrays *arrays, const struct gw_snapshot_header *image)
{
	const struct gw_backend *backend = section(image, &image->backends);
	const struct gw_next_hop *hop = section(image, &image->next_hops);
	struct gw_view_endpoint *endpoint = arrays->endpoint;
	bool sorted = true;

	for (uint64_t i = 0; i < image->next_hops.count; i++) {
		endpoint[i].address = hop[i].address;
		sorted &= !i || by_address(&endpoint[i - 1], &endpoint[i]) <= 0;
	}
	for (uint64_t i = 0; i < image->backends.count; i++) {
		struct gw_endpoint *at;

		gw_tunnel_source_add(arrays->view->source, &backend[i]);
		if (backend[i].state == GW_BACKEND_FREE || backend[i].next_hop == GW_NONE ||
			backend[i].encap == GW_ENCAP_L2)
			continue;
		at = &endpoint[backend[i].next_hop].endpoint;
		if (!at->modes)
			at->backend = (uint32_t)i;
		at->modes |= (uint8_t)(1u << backend[i].encap);
	}
	if (!sorted)
		qsort(endpoint, image->next_hops.count, sizeof(*endpoint), by_address);
}

const struct gw_endpoint *gw_view_endpoint(
	const struct gw_view *view, const struct gw_address *address)
{
	uint32_t low = 0, high = view->endpoint_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (by_address(&view->endpoint[middle], address) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	/* An address may have two next hops, one of them for backends without a tunnel. */
	for (; low < view->endpoint_count && !by_address(&view->endpoint[low], address); low++)
		if (view->endpoint[low].endpoint.modes)
			return &view->endpoint[low].endpoint;
	return NULL;
}

static int fill_pools(struct arrays *arrays, const struct gw_snapshot_header *image,
	const struct gw_view *previous, int socket)
{
	const struct gw_pool *pool = section(image, &image->pools);

	for (uint64_t i = 0; i < image->pools.count; i++) {
		struct gw_view_pool *to = &arrays->pool[pool[i].id];

		to->table_size = pool[i].table_size;
		to->member_count = pool[i].member_count;
		to->member = arrays->member + pool[i].member_first;
		if (!pool[i].member_count)
			continue;
		if (pool[i].table_offset) {
			to->table = table_copy(image, &pool[i], socket);
		} else {
			to->table = table_find(previous, &pool[i]);
			if (to->table)
				to->table->references++;
		}
		if (!to->table)
			return -ENOMEM;
		to->slot = to->table->slot;
	}
	return 0;
}

static void view_free(struct gw_view *view)
{
	if (!view)
		return;
	gw_vip_index_free(view);
	for (uint32_t i = 0; i < view->pool_count; i++)
		table_drop(view->pool[i].table);
	gw_memory_free(view, view->size);
}

static bool find_untracked(const struct gw_view *view)
{
	for (uint32_t i = 0; i < view->service_count; i++)
		if (view->service[i].pool != GW_NONE &&
			view->service[i].flags & GW_SERVICE_UNTRACKED)
			return true;
	return false;
}

/* Do addresses and ports lead where they led in `previous`, and to the same pools? */
static bool same_services(const struct gw_view *view, const struct gw_view *previous)
{
	return previous && previous->vip_count == view->vip_count &&
	       previous->span_count == view->span_count &&
	       previous->service_count == view->service_count &&
	       memcmp(previous->vip, view->vip, view->vip_count * sizeof(*view->vip)) == 0 &&
	       memcmp(previous->span, view->span, view->span_count * sizeof(*view->span)) == 0 &&
	       memcmp(previous->service, view->service,
		       view->service_count * sizeof(*view->service)) == 0;
}

static bool same_backends(const struct gw_view *view, const struct gw_view *previous)
{
	return previous && previous->backend_count == view->backend_count &&
	       memcmp(previous->backend, view->backend,
		       view->backend_count * sizeof(*view->backend)) == 0;
}

static struct gw_view *view_build(const struct gw_snapshot_header *image,
	const struct gw_generation *generation, const struct gw_view *previous, int socket)
{
	static uint32_t serial; /* main only; names of hashes must differ */
	struct layout layout = {};
	struct arrays arrays;
	struct gw_view *view;

	place_all(&layout, image);
	layout.base = gw_memory_alloc(layout.used, socket);
	if (!layout.base)
		return NULL;
	view = (struct gw_view *)layout.base;
	view->size = layout.used;
	layout.used = 0;
	arrays = place_all(&layout, image);
	view->socket = socket;
	view->version = image->version;
	view->hash_seed = image->hash_seed;
	view->timeouts = image->timeouts;
	view->fragment_ns = gw_fragment_ns(image->fragment_ms);
	view->vip_count = (uint32_t)image->vips.count;
	view->span_count = (uint32_t)image->spans.count;
	view->service_count = (uint32_t)image->services.count;
	view->backend_count = (uint32_t)image->backends.count;
	view->member_count = (uint32_t)image->members.count;
	view->pool_count = pool_count(image);
	view->vip = arrays.vip;
	view->span = arrays.span;
	view->service = arrays.service;
	view->backend = arrays.backend;
	view->pool = arrays.pool;
	view->member = arrays.member;
	view->endpoint = arrays.endpoint;
	view->endpoint_count = (uint32_t)image->next_hops.count;
	copy_section(arrays.vip, image, &image->vips, sizeof(*arrays.vip));
	copy_section(arrays.span, image, &image->spans, sizeof(*arrays.span));
	copy_section(arrays.service, image, &image->services, sizeof(*arrays.service));
	view->some_untracked = find_untracked(view);
	copy_section(arrays.member, image, &image->members, sizeof(*arrays.member));
	view->services_version =
		same_services(view, previous) ? previous->services_version : view->version;
	fill_endpoints(&arrays, image);
	copy_backends(arrays.backend, image, generation);
	view->backends_version =
		same_backends(view, previous) ? previous->backends_version : view->version;
	if (fill_pools(&arrays, image, previous, socket) ||
		gw_vip_index_build(view, socket, serial++)) {
		view_free(view);
		return NULL;
	}
	return view;
}

/* Generations ------------------------------------------------------------------------------ */

static int take_hops(struct gw_generation *generation, const struct gw_snapshot_header *image)
{
	const struct gw_next_hop *hop = section(image, &image->next_hops);

	generation->hop = calloc(image->next_hops.count + 1, sizeof(*generation->hop));
	if (!generation->hop)
		return -ENOMEM;
	for (uint64_t i = 0; i < image->next_hops.count; i++) {
		uint32_t index = gw_next_hop_take(generation->hops, &hop[i]);

		if (!index)
			return -ENOMEM;
		generation->hop[generation->hop_count++] = index;
	}
	return 0;
}

int gw_generation_build(struct gw_generation **out, const struct gw_snapshot_header *image,
	const struct gw_generation *previous, struct gw_next_hops *hops,
	const bool sockets[RTE_MAX_NUMA_NODES])
{
	struct gw_generation *generation = calloc(1, sizeof(*generation));

	if (!generation)
		return -ENOMEM;
	generation->version = image->version;
	generation->control_lost_s = image->control_lost_s;
	generation->hops = hops;
	if (take_hops(generation, image))
		goto fail;
	for (int i = 0; i < RTE_MAX_NUMA_NODES; i++) {
		if (!sockets[i])
			continue;
		generation->view[i] =
			view_build(image, generation, previous ? previous->view[i] : NULL, i);
		if (!generation->view[i])
			goto fail;
	}
	*out = generation;
	return 0;

fail:
	gw_generation_free(generation);
	return -ENOMEM;
}

void gw_generation_free(struct gw_generation *generation)
{
	if (!generation)
		return;
	for (int i = 0; i < RTE_MAX_NUMA_NODES; i++)
		view_free(generation->view[i]);
	for (uint32_t i = 0; i < generation->hop_count; i++)
		gw_next_hop_drop(generation->hops, generation->hop[i]);
	free(generation->hop);
	free(generation);
}
