/* SPDX-License-Identifier: BSD-2-Clause */
#include "control/runtime.h"

#include "control/runtime_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int runtime_compare(const char *pool_a, const char *name_a, const char *pool_b, const char *name_b)
{
	int order = strcmp(pool_a, pool_b);

	return order ? order : strcmp(name_a, name_b);
}

void runtime_text_copy(char *to, size_t size, const char *text)
{
	size_t used = 0;

	for (; text && *text && used + 1 < size; text++)
		to[used++] = *text >= ' ' && *text <= '~' ? *text : '?';
	to[used] = '\0';
}

struct gw_runtime *gw_runtime_new(void)
{
	return calloc(1, sizeof(struct gw_runtime));
}

void gw_runtime_free(struct gw_runtime *runtime)
{
	if (!runtime)
		return;
	free(runtime->list);
	gw_arena_free(runtime->arena);
	free(runtime);
}

/* Room for `count` entries and their names; what was there stays untouched until table_swap. */
static int table_new(struct gw_runtime *table, size_t count)
{
	table->list = calloc(count ? count : 1, sizeof(*table->list));
	table->arena = gw_arena_new();
	table->count = 0;
	if (table->list && table->arena)
		return 0;
	free(table->list);
	gw_arena_free(table->arena);
	return -ENOMEM;
}

static int entry_name(struct gw_runtime *table, struct gw_runtime_backend *entry, const char *pool,
	const char *base, const char *name)
{
	entry->pool = gw_arena_strndup(table->arena, pool, strlen(pool));
	entry->base = base ? gw_arena_strndup(table->arena, base, strlen(base)) : NULL;
	entry->name = gw_arena_strndup(table->arena, name, strlen(name));
	return entry->pool && entry->name && (entry->base || !base) ? 0 : -ENOMEM;
}

struct gw_runtime *gw_runtime_clone(const struct gw_runtime *runtime)
{
	struct gw_runtime *clone = gw_runtime_new();

	if (!clone || table_new(clone, runtime->count) < 0) {
		free(clone);
		return NULL;
	}
	for (size_t i = 0; i < runtime->count; i++) {
		const struct gw_runtime_backend *from = &runtime->list[i];

		clone->list[i] = *from;
		if (entry_name(clone, &clone->list[i], from->pool, from->base, from->name) < 0) {
			gw_runtime_free(clone);
			return NULL;
		}
	}
	clone->count = runtime->count;
	return clone;
}

static struct gw_runtime_backend *entry_find(
	const struct gw_runtime *runtime, const char *pool, const char *name)
{
	size_t low = 0, high = runtime->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		struct gw_runtime_backend *entry = &runtime->list[middle];
		int order = runtime_compare(pool, name, entry->pool, entry->name);

		if (!order)
			return entry;
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return NULL;
}

/* Any backend of the pool: the first entry at or behind (pool, ""). */
static bool pool_known(const struct gw_runtime *runtime, const char *pool)
{
	size_t low = 0, high = runtime->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strcmp(runtime->list[middle].pool, pool) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low < runtime->count && !strcmp(runtime->list[low].pool, pool);
}

static enum gw_config_backend_state wanted_state(const struct gw_runtime_backend *entry)
{
	return entry->override.has_state ? entry->override.state : entry->file_state;
}

/* A drain's clock runs from the moment someone first wanted it. */
static void drain_update(struct gw_runtime_backend *entry, int64_t now_ms)
{
	if (wanted_state(entry) != GW_CONFIG_DRAIN)
		entry->drain_since_ms = 0;
	else if (!entry->drain_since_ms)
		entry->drain_since_ms = now_ms;
}

static void override_trim(struct gw_runtime_backend *entry)
{
	if (!entry->override.has_state && !entry->override.has_weight)
		entry->override = (struct gw_override){0};
}

static bool initial_presumed(enum gw_config_initial initial, bool new_pool)
{
	return initial == GW_CONFIG_INITIAL_AUTO ? new_pool : initial == GW_CONFIG_INITIAL_UP;
}

/* What the file says now, on top of what was known (entry holds that, or zeroes for a new one). */
static void entry_update(struct gw_runtime_backend *entry, const struct gw_config_pool *pool,
	const struct gw_config_backend *backend, bool known, bool new_pool, int64_t now_ms)
{
	bool checked = pool->check.type != GW_CONFIG_CHECK_NONE;
	bool moved = known && memcmp(entry->address, backend->address, 16) != 0;
	struct gw_override *override = &entry->override;

	if (!known || moved || entry->file_state != backend->state)
		entry->since_ms = now_ms;
	if (moved || !checked) {
		entry->health = GW_HEALTH_UNKNOWN;
		entry->health_since_ms = 0;
		entry->presumed = false;
	}
	/* A pool that was not checked until now served; it goes on until a check says otherwise. */
	if (checked && known && !moved && !entry->checked)
		entry->presumed = true;
	else if (checked && (!known || moved))
		entry->presumed = initial_presumed(pool->check.initial, !known && new_pool);
	if (!known)
		entry->fresh = new_pool;
	if (moved) {
		entry->flips = 0;
		entry->held_until_ms = 0;
		entry->entered = false;
	}
	override->has_state &= override->file_state == backend->state;
	override->has_weight &= override->file_weight == backend->weight;
	override_trim(entry);
	memcpy(entry->address, backend->address, 16);
	entry->file_state = backend->state;
	entry->file_weight = backend->weight;
	entry->checked = checked;
	entry->removed = backend->removed;
	entry->drain_timeout_ms = pool->drain_timeout_ms;
	if (entry->removed && !entry->drain_timeout_ms)
		entry->drain_timeout_ms = GW_REMOVED_DRAIN_MS;
	entry->damping = pool->damping;
	entry->slow_start = pool->slow_start;
	entry->enter_limit = pool->enter_limit;
	drain_update(entry, now_ms);
}

/* The new table, sorted because the configuration's indexes by name are. */
static int table_fill(struct gw_runtime *next, const struct gw_runtime *old,
	const struct gw_config *config, int64_t now_ms)
{
	for (size_t p = 0; p < config->pool_count; p++) {
		const struct gw_config_pool *pool = config->pools_by_name[p];
		bool new_pool = !pool_known(old, pool->name);

		for (size_t b = 0; b < pool->backend_count; b++) {
			const struct gw_config_backend *backend = pool->by_name[b];
			struct gw_runtime_backend *entry = &next->list[next->count];
			const struct gw_runtime_backend *known =
				entry_find(old, pool->name, backend->name);

			if (known)
				*entry = *known;
			if (entry_name(next, entry, pool->name, pool->base, backend->name) < 0)
				return -ENOMEM;
			entry_update(entry, pool, backend, known, new_pool, now_ms);
			next->count++;
		}
	}
	return 0;
}

static void ended_tell(const struct gw_runtime *old, const struct gw_runtime *next,
	void (*ended)(void *owner, const struct gw_runtime_backend *backend), void *owner)
{
	for (size_t i = 0; i < old->count; i++) {
		const struct gw_runtime_backend *was = &old->list[i];
		const struct gw_runtime_backend *is = entry_find(next, was->pool, was->name);

		if ((was->override.has_state && !(is && is->override.has_state)) ||
			(was->override.has_weight && !(is && is->override.has_weight)))
			ended(owner, was);
	}
}

int gw_runtime_apply(struct gw_runtime *runtime, const struct gw_config *config, int64_t now_ms,
	void (*ended)(void *owner, const struct gw_runtime_backend *backend), void *owner)
{
	struct gw_runtime next;
	size_t count = 0;

	for (size_t p = 0; p < config->pool_count; p++)
		count += config->pools[p].backend_count;
	if (table_new(&next, count) < 0)
		return -ENOMEM;
	if (table_fill(&next, runtime, config, now_ms) < 0) {
		free(next.list);
		gw_arena_free(next.arena);
		return -ENOMEM;
	}
	if (ended)
		ended_tell(runtime, &next, ended, owner);
	free(runtime->list);
	gw_arena_free(runtime->arena);
	*runtime = next;
	return 0;
}

const struct gw_runtime_backend *gw_runtime_find(
	const struct gw_runtime *runtime, const char *pool, const char *name)
{
	return entry_find(runtime, pool, name);
}

size_t gw_runtime_count(const struct gw_runtime *runtime)
{
	return runtime->count;
}

const struct gw_runtime_backend *gw_runtime_at(const struct gw_runtime *runtime, size_t i)
{
	return &runtime->list[i];
}

int gw_runtime_set_health(struct gw_runtime *runtime, const char *pool, const char *name,
	enum gw_health health, const char *detail, int64_t now_ms)
{
	struct gw_runtime_backend *entry = entry_find(runtime, pool, name);

	if (!entry)
		return -ENOENT;
	if (health == GW_HEALTH_DOWN && detail) {
		runtime_text_copy(entry->last_failure, sizeof(entry->last_failure), detail);
		entry->last_failure_ms = now_ms;
	}
	if (entry->health == health)
		return 0;
	if (health == GW_HEALTH_DOWN && entry->health == GW_HEALTH_UP)
		runtime_flip_note(entry, now_ms);
	entry->health = health;
	entry->health_since_ms = now_ms;
	entry->since_ms = now_ms;
	return 1;
}

int gw_runtime_note_failure(struct gw_runtime *runtime, const char *pool, const char *name,
	const char *detail, int64_t now_ms)
{
	struct gw_runtime_backend *entry = entry_find(runtime, pool, name);

	if (!entry)
		return -ENOENT;
	runtime_text_copy(entry->last_failure, sizeof(entry->last_failure), detail);
	entry->last_failure_ms = now_ms;
	return 1;
}

/* After state or weight of the override changed. `said`: it stands; otherwise that half ended. */
static int override_sign(struct gw_runtime_backend *entry, bool said, const char *who,
	const char *why, int64_t now_ms)
{
	struct gw_override *override = &entry->override;

	override->until_ms = 0;
	if (said) {
		override->file_state = entry->file_state;
		override->file_weight = entry->file_weight;
		override->since_ms = now_ms;
		runtime_text_copy(override->who, sizeof(override->who), who);
		runtime_text_copy(override->why, sizeof(override->why), why);
	}
	override_trim(entry);
	entry->since_ms = now_ms;
	drain_update(entry, now_ms);
	return 1;
}

int gw_runtime_override_state(struct gw_runtime *runtime, const char *pool, const char *name,
	enum gw_config_backend_state state, const char *who, const char *why, int64_t now_ms)
{
	struct gw_runtime_backend *entry = entry_find(runtime, pool, name);

	if (!entry || entry->removed)
		return -ENOENT;
	if (state == GW_CONFIG_ACTIVE && runtime_held(entry, now_ms)) {
		/* Whoever enables it wants it now. */
		entry->held_until_ms = 0;
		entry->flips = 0;
		entry->since_ms = now_ms;
		if (wanted_state(entry) == state)
			return 1;
	}
	/* A drain said again keeps its deadline. */
	if (wanted_state(entry) == state)
		return 0;
	entry->override.has_state = state != entry->file_state;
	entry->override.state = state;
	return override_sign(entry, entry->override.has_state, who, why, now_ms);
}

int gw_runtime_override_weight(struct gw_runtime *runtime, const char *pool, const char *name,
	uint32_t weight, const char *who, const char *why, int64_t now_ms)
{
	struct gw_runtime_backend *entry = entry_find(runtime, pool, name);
	struct gw_override *override;

	if (!entry)
		return -ENOENT;
	override = &entry->override;
	if ((override->has_weight ? override->weight : entry->file_weight) == weight)
		return 0;
	override->has_weight = weight != entry->file_weight;
	override->weight = weight;
	return override_sign(entry, override->has_weight, who, why, now_ms);
}

int gw_runtime_override_until(
	struct gw_runtime *runtime, const char *pool, const char *name, int64_t until_ms)
{
	struct gw_runtime_backend *entry = entry_find(runtime, pool, name);

	if (!entry)
		return -ENOENT;
	if ((!entry->override.has_state && !entry->override.has_weight) ||
		entry->override.until_ms == until_ms)
		return 0;
	entry->override.until_ms = until_ms;
	return 1;
}

size_t gw_runtime_expire(struct gw_runtime *runtime, int64_t now_ms,
	void (*ended)(void *owner, const struct gw_runtime_backend *backend), void *owner)
{
	size_t count = 0;

	for (size_t i = 0; i < runtime->count; i++) {
		struct gw_runtime_backend *entry = &runtime->list[i];

		if (!entry->override.until_ms || entry->override.until_ms > now_ms)
			continue;
		if (ended)
			ended(owner, entry);
		entry->override = (struct gw_override){0};
		entry->since_ms = now_ms;
		drain_update(entry, now_ms);
		count++;
	}
	return count;
}

int gw_runtime_override_clear(
	struct gw_runtime *runtime, const char *pool, const char *name, int64_t now_ms)
{
	struct gw_runtime_backend *entry = entry_find(runtime, pool, name);

	if (!entry)
		return -ENOENT;
	if (!entry->override.has_state && !entry->override.has_weight)
		return 0;
	entry->override = (struct gw_override){0};
	entry->since_ms = now_ms;
	drain_update(entry, now_ms);
	return 1;
}
