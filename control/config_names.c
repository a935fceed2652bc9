/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names: sorting them finds the duplicates and is at once the index that lookups use.
 */
#include "config_arena.h"
#include "config_check.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* One thing that has a name; items of one kind lie in one array, so their order is the file's. */
struct named {
	const char *name;
	void *item;
	const struct gw_place *place;
};

static int named_compare(const void *left, const void *right)
{
	const struct named *a = left, *b = right;
	int order = strcmp(a->name, b->name);

	if (order)
		return order;
	return a->item < b->item ? -1 : a->item > b->item;
}

static void named_sort(struct named *list, size_t count)
{
	if (count)
		qsort(list, count, sizeof(*list), named_compare);
}

/* The items in order of name. */
static void *index_make(struct config_walk *walk, const struct named *list, size_t count)
{
	void **index = config_alloc(walk, count, sizeof(*index));

	for (size_t i = 0; index && i < count; i++)
		index[i] = list[i].item;
	return index;
}

static void duplicate_report(struct config_walk *walk, const struct named *first,
	const struct named *again, const char *path, const char *what)
{
	char where[CONFIG_PLACE_TEXT];

	config_bad_at(walk, again->place, path, "duplicate %s \"%s\", first given in %s", what,
		again->name, config_place_text(first->place, again->place, where));
}

static void pools_index(struct config_walk *walk, struct named *list)
{
	struct gw_config *config = walk->config;
	char path[CONFIG_PATH_MAX];
	size_t count = 0;

	for (size_t i = 0; i < config->pool_count; i++) {
		struct gw_config_pool *pool = &config->pools[i];

		if (pool->name)
			list[count++] = (struct named){pool->name, pool, &pool->place};
	}
	named_sort(list, count);
	for (size_t i = 1; i < count; i++) {
		if (!strcmp(list[i].name, list[i - 1].name))
			duplicate_report(walk, &list[i - 1], &list[i],
				config_pool_path(walk, list[i].item, ".name", path), "pool");
	}
	config->pools_by_name = index_make(walk, list, count);
}

static void services_index(struct config_walk *walk, struct named *list)
{
	struct gw_config *config = walk->config;
	char path[CONFIG_PATH_MAX];
	size_t count = 0;

	for (size_t i = 0; i < config->service_count; i++) {
		struct gw_config_service *service = &config->services[i];

		if (service->name)
			list[count++] = (struct named){service->name, service, &service->place};
	}
	named_sort(list, count);
	for (size_t i = 1; i < count; i++) {
		if (!strcmp(list[i].name, list[i - 1].name))
			duplicate_report(walk, &list[i - 1], &list[i],
				config_service_path(walk, list[i].item, ".name", path), "service");
	}
	config->services_by_name = index_make(walk, list, count);
}

static void backends_index(
	struct config_walk *walk, struct gw_config_pool *pool, struct named *list)
{
	char path[CONFIG_PATH_MAX];
	size_t count = 0;

	for (size_t i = 0; i < pool->backend_count; i++) {
		struct gw_config_backend *backend = &pool->backends[i];

		if (backend->name)
			list[count++] = (struct named){backend->name, backend, &backend->place};
	}
	named_sort(list, count);
	for (size_t i = 1; i < count; i++) {
		if (!strcmp(list[i].name, list[i - 1].name))
			duplicate_report(walk, &list[i - 1], &list[i],
				config_backend_path(walk, pool, list[i].item, ".name", path),
				"backend");
	}
	pool->by_name = index_make(walk, list, count);
}

/* Ids and member keys; what has no address has no key of its own. */
static void backends_complete(struct config_walk *walk, struct gw_config_pool *pool)
{
	struct gw_arena *arena = walk->config->arena;
	char text[GW_ADDRESS_TEXT];

	for (size_t i = 0; i < pool->backend_count; i++) {
		struct gw_config_backend *backend = &pool->backends[i];

		if (pool->name && backend->name)
			backend->id = gw_arena_printf(arena, "%s/%s", pool->name, backend->name);
		if (!backend->key && backend->address_place.file) {
			gw_address_format(backend->address, text);
			backend->key = gw_arena_strndup(arena, text, strlen(text));
		}
	}
}

static void addresses_check(
	struct config_walk *walk, struct gw_config_pool *pool, struct named *list)
{
	char path[CONFIG_PATH_MAX], text[GW_ADDRESS_TEXT];
	size_t count = 0;

	for (size_t i = 0; i < pool->backend_count; i++) {
		struct gw_config_backend *backend = &pool->backends[i];
		const char *name = backend->key;

		if (!backend->address_place.file)
			continue;
		if (backend->key_place.file) {
			gw_address_format(backend->address, text);
			name = gw_arena_strndup(walk->config->arena, text, strlen(text));
		}
		if (!name)
			return;
		list[count++] = (struct named){name, backend, &backend->address_place};
	}
	named_sort(list, count);
	for (size_t i = 1; i < count; i++) {
		if (!strcmp(list[i].name, list[i - 1].name))
			duplicate_report(walk, &list[i - 1], &list[i],
				config_backend_path(walk, pool, list[i].item, ".address", path),
				"address");
	}
}

/* Two keys made of addresses are equal only if the addresses are, which is reported already. */
static void keys_check(struct config_walk *walk, struct gw_config_pool *pool, struct named *list)
{
	char path[CONFIG_PATH_MAX];
	size_t count = 0;

	for (size_t i = 0; i < pool->backend_count; i++) {
		struct gw_config_backend *backend = &pool->backends[i];
		const struct gw_place *place = &backend->key_place;

		if (backend->key)
			list[count++] = (struct named){backend->key, backend,
				place->file ? place : &backend->address_place};
	}
	named_sort(list, count);
	for (size_t i = 1; i < count; i++) {
		const struct gw_config_backend *first = list[i - 1].item, *again = list[i].item;
		const char *key = again->key_place.file ? ".key" : ".address";

		if (strcmp(list[i].name, list[i - 1].name))
			continue;
		if (first->key_place.file || again->key_place.file)
			duplicate_report(walk, &list[i - 1], &list[i],
				config_backend_path(walk, pool, again, key, path), "member key");
	}
}

static const char *pool_nearest(const struct gw_config *config, const char *name)
{
	const char *nearest = NULL;
	unsigned int best = 0;

	for (size_t i = 0; i < config->pool_count; i++) {
		const char *other = config->pools[i].name;
		unsigned int distance;

		if (!other)
			continue;
		distance = config_distance(name, strlen(name), other, strlen(other));
		if (!nearest || distance < best) {
			nearest = other;
			best = distance;
		}
	}
	return nearest;
}

static int pool_compare(const void *name, const void *element)
{
	return strcmp(name, ((const struct named *)element)->name);
}

/* list is the pools, sorted. */
static void services_resolve(struct config_walk *walk, const struct named *list, size_t count)
{
	struct gw_config *config = walk->config;
	char path[CONFIG_PATH_MAX];

	for (size_t i = 0; i < config->service_count; i++) {
		struct gw_config_service *service = &config->services[i];
		const struct named *found = NULL;

		if (!service->pool_place.file)
			continue;
		if (count)
			found = bsearch(
				service->pool_name, list, count, sizeof(*list), pool_compare);
		if (found) {
			service->pool = found->item;
		} else if (!walk->sources.incomplete && !config_errors_full(walk->errors)) {
			const char *nearest = pool_nearest(config, service->pool_name);

			config_bad_at(walk, &service->pool_place,
				config_service_path(walk, service, ".pool", path),
				"unknown pool \"%s\"%s%s%s", service->pool_name,
				nearest ? "; the nearest is \"" : "; there is no pool",
				nearest ? nearest : "", nearest ? "\"" : "");
		}
	}
}

void config_names_check(struct config_walk *walk)
{
	struct gw_config *config = walk->config;
	size_t most = config->pool_count > config->service_count ? config->pool_count
								 : config->service_count;
	struct named *list;
	size_t named = 0;

	for (size_t i = 0; i < config->pool_count; i++) {
		named += !!config->pools[i].name;
		if (config->pools[i].backend_count > most)
			most = config->pools[i].backend_count;
	}
	list = calloc(most + 1, sizeof(*list));
	if (!list) {
		walk->status = -ENOMEM;
		return;
	}
	services_index(walk, list);
	for (size_t i = 0; i < config->pool_count && !walk->status; i++) {
		struct gw_config_pool *pool = &config->pools[i];

		backends_index(walk, pool, list);
		backends_complete(walk, pool);
		addresses_check(walk, pool, list);
		keys_check(walk, pool, list);
	}
	pools_index(walk, list);
	services_resolve(walk, list, named);
	free(list);
}
