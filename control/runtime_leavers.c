/* SPDX-License-Identifier: BSD-2-Clause */
/* Backends that the configuration lost while they served: they join it once more, to drain. */
#include "control/config_arena.h"
#include "control/runtime.h"
#include "control/runtime_table.h"

#include <errno.h>
#include <string.h>

static bool drain_over(const struct gw_runtime_backend *entry, uint32_t timeout_ms, int64_t now_ms)
{
	return entry->drain_since_ms && entry->drain_since_ms + timeout_ms <= now_ms;
}

static uint32_t drain_time(const struct gw_config_pool *pool)
{
	return pool->drain_timeout_ms ? pool->drain_timeout_ms : GW_REMOVED_DRAIN_MS;
}

/* It may have tracked flows, and they may stay where they are. */
static bool leaver_drains(
	const struct gw_runtime_backend *entry, const struct gw_config_pool *pool, int64_t now_ms)
{
	enum gw_config_backend_state wanted =
		entry->override.has_state ? entry->override.state : entry->file_state;

	if (wanted == GW_CONFIG_DISABLED || drain_over(entry, drain_time(pool), now_ms))
		return false;
	if (!entry->checked || entry->health == GW_HEALTH_UP)
		return true;
	return entry->health == GW_HEALTH_DOWN ? pool->keep_on_down : entry->presumed;
}

static int leaver_fill(struct gw_config *config, const struct gw_config_pool *pool,
	const struct gw_runtime_backend *entry, struct gw_config_backend *backend)
{
	char text[GW_ADDRESS_TEXT];

	*backend = (struct gw_config_backend){.weight = entry->file_weight,
		.state = GW_CONFIG_DRAIN,
		.removed = true,
		.place = pool->place,
		.address_place = pool->place};
	memcpy(backend->address, entry->address, sizeof(backend->address));
	backend->name = gw_arena_strndup(config->arena, entry->name, strlen(entry->name));
	backend->id = gw_arena_printf(config->arena, "%s/%s", pool->name, entry->name);
	gw_address_format(entry->address, text);
	backend->key = gw_arena_strndup(config->arena, text, strlen(text));
	return backend->name && backend->id && backend->key ? 0 : -ENOMEM;
}

/* The pool's arrays anew, with room for `more` backends. */
static int pool_widen(struct gw_config *config, struct gw_config_pool *pool, size_t more)
{
	size_t count = pool->backend_count;
	struct gw_config_backend *list = gw_arena_alloc(config->arena, count + more, sizeof(*list));
	struct gw_config_backend **by_name =
		gw_arena_alloc(config->arena, count + more, sizeof(*by_name));

	if (!list || !by_name)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		list[i] = pool->backends[i];
		by_name[i] = list + (pool->by_name[i] - pool->backends);
	}
	pool->backends = list;
	pool->by_name = by_name;
	return 0;
}

/* Puts the last backend of the list where its name belongs. */
static void name_insert(struct gw_config_pool *pool)
{
	struct gw_config_backend *last = &pool->backends[pool->backend_count];
	size_t at = pool->backend_count++;

	while (at && strcmp(pool->by_name[at - 1]->name, last->name) > 0) {
		pool->by_name[at] = pool->by_name[at - 1];
		at--;
	}
	pool->by_name[at] = last;
}

static bool leaver_is(
	const struct gw_config_pool *pool, const struct gw_runtime_backend *entry, int64_t now_ms)
{
	return !strcmp(entry->pool, pool->name) && !gw_config_backend_find(pool, entry->name) &&
	       leaver_drains(entry, pool, now_ms);
}

/* Entries first to first + size are those of the pool's name. */
static int pool_keep(struct gw_config *config, struct gw_config_pool *pool,
	const struct gw_runtime_backend *first, size_t size, int64_t now_ms)
{
	size_t more = 0;

	for (size_t i = 0; i < size; i++)
		more += leaver_is(pool, &first[i], now_ms);
	/* A full pool has no place for them; the file's own backends come first. */
	if (!more || pool->backend_count + more > GW_MAX_POOL_MEMBERS)
		return 0;
	if (pool_widen(config, pool, more) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < size; i++) {
		if (!leaver_is(pool, &first[i], now_ms))
			continue;
		if (leaver_fill(config, pool, &first[i], &pool->backends[pool->backend_count]) < 0)
			return -ENOMEM;
		name_insert(pool);
	}
	return (int)more;
}

int gw_config_keep_leavers(
	struct gw_config *config, const struct gw_runtime *runtime, int64_t now_ms)
{
	int joined = 0;
	size_t size;

	for (size_t first = 0; first < runtime->count; first += size) {
		const struct gw_runtime_backend *entry = &runtime->list[first];
		struct gw_config_pool *pool = gw_config_pool_find(config, entry->pool);
		int ret = 0;

		for (size = 1; first + size < runtime->count &&
			       !strcmp(runtime->list[first + size].pool, entry->pool);
			size++)
			;
		if (pool)
			ret = pool_keep(config, pool, entry, size, now_ms);
		if (ret < 0)
			return ret;
		joined += ret;
	}
	return joined;
}

bool gw_runtime_leavers_over(const struct gw_runtime *runtime, int64_t now_ms)
{
	for (size_t i = 0; i < runtime->count; i++)
		if (runtime->list[i].removed && runtime->list[i].drain_timeout_ms &&
			drain_over(&runtime->list[i], runtime->list[i].drain_timeout_ms, now_ms))
			return true;
	return false;
}
