/* SPDX-License-Identifier: BSD-2-Clause */
#include "config_expand.h"

#include "abi/flow_word.h"
#include "config_arena.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* One address of one pool that is asked by address; sorted by pool, in the file's order within. */
struct part {
	size_t pool; /* position in the configuration as it was loaded */
	struct gw_prefix prefix;
	struct gw_config_pool *to; /* the pool that serves it */
};

struct expansion {
	struct gw_config *config;
	struct part *parts;
	size_t part_count;
	struct gw_config_pool *pools;
	size_t pool_count;
	struct gw_config_service *services;
	size_t service_count;
};

static bool pool_split(const struct gw_config_pool *pool)
{
	return pool->check.via == GW_CONFIG_VIA_TUNNEL && pool->check.type != GW_CONFIG_CHECK_NONE;
}

static bool prefix_equal(const struct gw_prefix *a, const struct gw_prefix *b)
{
	return a->length == b->length && !memcmp(a->address, b->address, 16);
}

static struct part *part_find(
	const struct expansion *expansion, size_t pool, const struct gw_prefix *prefix)
{
	for (size_t i = 0; i < expansion->part_count; i++)
		if (expansion->parts[i].pool == pool &&
			prefix_equal(&expansion->parts[i].prefix, prefix))
			return &expansion->parts[i];
	return NULL;
}

/* "web@203.0.113.10"; a prefix's '/' would end a name, so it is '_'. */
static const char *name_make(
	struct gw_config *config, const char *name, const struct gw_prefix *prefix)
{
	char text[GW_PREFIX_TEXT], *slash;

	gw_prefix_format(prefix, text);
	slash = strchr(text, '/');
	if (slash)
		*slash = '_';
	return gw_arena_printf(config->arena, "%s@%s", name, text);
}

static int parts_collect(struct expansion *expansion)
{
	const struct gw_config *config = expansion->config;
	size_t room = 0;

	for (size_t s = 0; s < config->service_count; s++)
		room += config->services[s].address_count;
	expansion->parts = calloc(room + 1, sizeof(*expansion->parts));
	if (!expansion->parts)
		return -ENOMEM;
	for (size_t s = 0; s < config->service_count; s++) {
		const struct gw_config_service *service = &config->services[s];
		size_t pool = (size_t)(service->pool - config->pools);

		for (size_t a = 0; pool_split(service->pool) && a < service->address_count; a++) {
			const struct gw_prefix *prefix = &service->addresses[a].prefix;

			if (!part_find(expansion, pool, prefix))
				expansion->parts[expansion->part_count++] =
					(struct part){.pool = pool, .prefix = *prefix};
		}
	}
	return 0;
}

static int compare_backend(const void *a, const void *b)
{
	return strcmp((*(struct gw_config_backend *const *)a)->name,
		(*(struct gw_config_backend *const *)b)->name);
}

/* A copy of the pool under the address' name; its backends are copies too, for their ids. */
static int pool_derive(struct expansion *expansion, struct part *part)
{
	struct gw_config *config = expansion->config;
	const struct gw_config_pool *base = &expansion->pools[part->pool];
	struct gw_config_pool *pool = &expansion->pools[expansion->pool_count];
	size_t count = base->backend_count;

	*pool = *base;
	pool->base = base->name;
	pool->name = name_make(config, base->name, &part->prefix);
	pool->backends = gw_arena_alloc(config->arena, count + 1, sizeof(*pool->backends));
	pool->by_name = gw_arena_alloc(config->arena, count + 1, sizeof(*pool->by_name));
	if (!pool->name || !pool->backends || !pool->by_name)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		struct gw_config_backend *backend = &pool->backends[i];

		*backend = base->backends[i];
		backend->id = gw_arena_printf(config->arena, "%s/%s", pool->name, backend->name);
		if (!backend->id)
			return -ENOMEM;
		pool->by_name[i] = backend;
	}
	qsort(pool->by_name, count, sizeof(*pool->by_name), compare_backend);
	part->to = pool;
	expansion->pool_count++;
	return 0;
}

static int pools_make(struct expansion *expansion)
{
	struct gw_config *config = expansion->config;
	size_t room = config->pool_count + expansion->part_count;

	expansion->pools = gw_arena_alloc(config->arena, room + 1, sizeof(*expansion->pools));
	if (!expansion->pools)
		return -ENOMEM;
	memcpy(expansion->pools, config->pools, config->pool_count * sizeof(*expansion->pools));
	expansion->pool_count = config->pool_count;
	for (size_t i = 0; i < expansion->part_count; i++) {
		struct part *part = &expansion->parts[i];
		struct gw_config_pool *base = &expansion->pools[part->pool];

		if (!base->has_probe_address)
			part->to = base; /* the first keeps the name */
		else if (pool_derive(expansion, part))
			return -ENOMEM;
		part->to->has_probe_address = true;
		memcpy(part->to->probe_address, part->prefix.address, 16);
	}
	return 0;
}

/* One address of a service, as a service of its own; the first keeps the name. */
static int service_part(
	struct expansion *expansion, const struct gw_config_service *whole, size_t address)
{
	struct gw_config *config = expansion->config;
	struct gw_config_service *service = &expansion->services[expansion->service_count++];
	const struct gw_prefix *prefix = &whole->addresses[address].prefix;

	*service = *whole;
	service->written = whole->addresses;
	service->written_count = whole->address_count;
	service->pool = part_find(expansion, (size_t)(whole->pool - config->pools), prefix)->to;
	service->addresses = &whole->addresses[address];
	service->address_count = 1;
	if (address) {
		service->base = whole->name;
		service->name = name_make(config, whole->name, prefix);
	}
	return service->name ? 0 : -ENOMEM;
}

static int service_split(struct expansion *expansion, const struct gw_config_service *whole)
{
	size_t pool = (size_t)(whole->pool - expansion->config->pools);
	int ret = 0;

	if (!pool_split(whole->pool)) {
		struct gw_config_service *service =
			&expansion->services[expansion->service_count++];

		*service = *whole;
		service->pool = &expansion->pools[pool];
		return 0;
	}
	for (size_t a = 0; !ret && a < whole->address_count; a++)
		ret = service_part(expansion, whole, a);
	return ret;
}

static int services_make(struct expansion *expansion)
{
	struct gw_config *config = expansion->config;
	size_t room = 0;

	for (size_t s = 0; s < config->service_count; s++)
		room += config->services[s].address_count;
	expansion->services = gw_arena_alloc(
		config->arena, room + config->service_count + 1, sizeof(*expansion->services));
	if (!expansion->services)
		return -ENOMEM;
	for (size_t s = 0; s < config->service_count; s++)
		if (service_split(expansion, &config->services[s]))
			return -ENOMEM;
	return 0;
}

static int compare_pool(const void *a, const void *b)
{
	return strcmp((*(struct gw_config_pool *const *)a)->name,
		(*(struct gw_config_pool *const *)b)->name);
}

static int compare_service(const void *a, const void *b)
{
	return strcmp((*(struct gw_config_service *const *)a)->name,
		(*(struct gw_config_service *const *)b)->name);
}

static int indexes_make(struct expansion *expansion)
{
	struct gw_config *config = expansion->config;
	struct gw_config_pool **pools = gw_arena_alloc(
		config->arena, expansion->pool_count + 1, sizeof(struct gw_config_pool *));
	struct gw_config_service **services = gw_arena_alloc(
		config->arena, expansion->service_count + 1, sizeof(struct gw_config_service *));

	if (!pools || !services)
		return -ENOMEM;
	for (size_t i = 0; i < expansion->pool_count; i++)
		pools[i] = &expansion->pools[i];
	for (size_t i = 0; i < expansion->service_count; i++)
		services[i] = &expansion->services[i];
	qsort(pools, expansion->pool_count, sizeof(struct gw_config_pool *), compare_pool);
	qsort(services, expansion->service_count, sizeof(struct gw_config_service *),
		compare_service);
	config->pools = expansion->pools;
	config->pool_count = expansion->pool_count;
	config->pools_by_name = pools;
	config->services = expansion->services;
	config->service_count = expansion->service_count;
	config->services_by_name = services;
	return 0;
}

static int limits_check(const struct expansion *expansion)
{
	size_t backends = 0;

	for (size_t i = 0; i < expansion->pool_count; i++)
		backends += expansion->pools[i].backend_count;
	return expansion->pool_count > GW_MAX_POOLS || expansion->service_count > GW_MAX_SERVICES ||
			       backends > GW_FLOW_BACKEND_MAX
		       ? -E2BIG
		       : 0;
}

int gw_config_expand(struct gw_config *config)
{
	struct expansion expansion = {.config = config};
	int ret = parts_collect(&expansion);

	if (!ret && expansion.part_count) {
		ret = pools_make(&expansion);
		if (!ret)
			ret = services_make(&expansion);
		if (!ret)
			ret = limits_check(&expansion);
		if (!ret)
			ret = indexes_make(&expansion);
	}
	free(expansion.parts);
	return ret;
}
