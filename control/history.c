/* SPDX-License-Identifier: BSD-2-Clause */
#include "control/history.h"

#include "control/events.h"
#include "control/history_parts.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void gw_cause_add(struct gw_cause *cause, const char *who, const char *format, ...)
{
	va_list arguments;

	if (cause->text[0]) {
		cause->more++;
		return;
	}
	va_start(arguments, format);
	vsnprintf(cause->text, sizeof(cause->text), format, arguments);
	va_end(arguments);
	snprintf(cause->who, sizeof(cause->who), "%s", who ? who : "");
}

struct gw_history *gw_history_new(void)
{
	return calloc(1, sizeof(struct gw_history));
}

static void pool_unref(struct gw_history *history, struct history_pool *pool)
{
	if (!pool || --pool->references)
		return;
	history->bytes -= pool->bytes;
	free(pool);
}

static void services_unref(struct gw_history *history, struct history_services *services)
{
	if (!services || --services->references)
		return;
	history->bytes -= services->bytes;
	free(services);
}

static void version_clear(struct gw_history *history, struct history_version *version)
{
	for (size_t i = 0; i < version->pool_count; i++)
		pool_unref(history, version->pools[i]);
	services_unref(history, version->services);
	history->bytes -= version->pool_count * sizeof(*version->pools);
	free(version->pools);
	*version = (struct history_version){0};
}

static void oldest_drop(struct gw_history *history)
{
	version_clear(history, &history->ring[history->first]);
	history->first = (history->first + 1) % GW_HISTORY_VERSIONS;
	history->count--;
}

void gw_history_free(struct gw_history *history)
{
	while (history && history->count)
		oldest_drop(history);
	free(history);
}

/* Copies a text behind what is in the block already. */
static const char *text_put(char **at, const char *text)
{
	char *put = *at;

	*at = stpcpy(put, text) + 1;
	return put;
}

static const struct gw_build_backend *member_of(const struct gw_build_pool *pool, uint32_t i)
{
	return &pool->backends[pool->members[i]];
}

static struct history_pool *pool_note(struct gw_history *history, const struct gw_build_pool *pool)
{
	size_t bytes = sizeof(struct history_pool) +
		       pool->member_count * sizeof(struct history_member) + strlen(pool->name) + 1;
	struct history_pool *note;
	char *text;

	for (uint32_t i = 0; i < pool->member_count; i++)
		bytes += strlen(member_of(pool, i)->name) + strlen(member_of(pool, i)->key) + 2;
	note = malloc(bytes);
	if (!note)
		return NULL;
	*note = (struct history_pool){.members = (struct history_member *)(note + 1),
		.member_count = pool->member_count,
		.table_size = pool->table_size,
		.digest = pool->digest,
		.table_version = pool->table_version,
		.bytes = bytes,
		.references = 1};
	text = (char *)(note->members + pool->member_count);
	note->name = text_put(&text, pool->name);
	for (uint32_t i = 0; i < pool->member_count; i++) {
		const struct gw_build_backend *backend = member_of(pool, i);
		struct history_member *member = &note->members[i];

		member->name = text_put(&text, backend->name);
		member->key = text_put(&text, backend->key);
		memcpy(member->address, backend->address, sizeof(member->address));
		member->weight = backend->effect.weight;
		member->slots = backend->slots;
	}
	history->bytes += bytes;
	return note;
}

static bool pool_same(const struct history_pool *note, const struct gw_build_pool *pool)
{
	if (strcmp(note->name, pool->name) || note->member_count != pool->member_count ||
		note->table_size != pool->table_size ||
		memcmp(&note->digest, &pool->digest, sizeof(note->digest)))
		return false;
	for (uint32_t i = 0; i < pool->member_count; i++) {
		const struct gw_build_backend *backend = member_of(pool, i);
		const struct history_member *member = &note->members[i];

		if (member->weight != backend->effect.weight ||
			memcmp(member->address, backend->address, sizeof(member->address)) ||
			strcmp(member->name, backend->name) || strcmp(member->key, backend->key))
			return false;
	}
	return true;
}

static struct history_pool *pool_find(const struct history_version *version, const char *name)
{
	size_t low = 0, high = version ? version->pool_count : 0;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = strcmp(name, version->pools[middle]->name);

		if (!order)
			return version->pools[middle];
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return NULL;
}

static int pools_take(struct gw_history *history, struct history_version *version,
	const struct history_version *before, const struct gw_build *build)
{
	version->pools = calloc(build->pool_count + 1, sizeof(*version->pools));
	if (!version->pools)
		return -ENOMEM;
	for (size_t i = 0; i < build->pool_count; i++) {
		const struct gw_build_pool *pool = build->pools_by_name[i];
		struct history_pool *note = pool_find(before, pool->name);

		if (note && pool_same(note, pool))
			note->references++;
		else
			note = pool_note(history, pool);
		if (!note)
			return -ENOMEM;
		version->pools[version->pool_count++] = note;
		history->bytes += sizeof(*version->pools);
	}
	return 0;
}

/* Position in pools_by_name. */
static uint32_t pool_rank(const struct history_version *version, const char *name)
{
	for (uint32_t low = 0, high = (uint32_t)version->pool_count; low < high;) {
		uint32_t middle = low + (high - low) / 2;
		int order = strcmp(name, version->pools[middle]->name);

		if (!order)
			return middle;
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return GW_NONE;
}

static struct history_services *services_note(struct gw_history *history,
	const struct history_version *version, const struct gw_build *build)
{
	size_t count = build->service_count;
	size_t bytes = sizeof(struct history_services) + count * sizeof(struct history_service);
	struct history_services *note;
	char *text;

	for (size_t i = 0; i < count; i++)
		bytes += strlen(build->services[i].name) + 1;
	note = malloc(bytes);
	if (!note)
		return NULL;
	*note = (struct history_services){.list = (struct history_service *)(note + 1),
		.count = count,
		.bytes = bytes,
		.references = 1};
	text = (char *)(note->list + count);
	for (size_t i = 0; i < count; i++) {
		const struct gw_build_service *service = build->services_by_name[i];

		note->list[i] = (struct history_service){.name = text_put(&text, service->name),
			.pool = pool_rank(version, build->pools[service->pool].name),
			.affinity = service->affinity};
	}
	history->bytes += bytes;
	return note;
}

static bool services_same(const struct history_services *a, const struct history_services *b)
{
	if (a->count != b->count)
		return false;
	for (size_t i = 0; i < a->count; i++)
		if (a->list[i].pool != b->list[i].pool ||
			a->list[i].affinity != b->list[i].affinity ||
			strcmp(a->list[i].name, b->list[i].name))
			return false;
	return true;
}

static bool pools_named_alike(const struct history_version *a, const struct history_version *b)
{
	if (a->pool_count != b->pool_count)
		return false;
	for (size_t i = 0; i < a->pool_count; i++)
		if (strcmp(a->pools[i]->name, b->pools[i]->name))
			return false;
	return true;
}

static int services_take(struct gw_history *history, struct history_version *version,
	const struct history_version *before, const struct gw_build *build)
{
	version->services = services_note(history, version, build);
	if (!version->services)
		return -ENOMEM;
	if (!before || !pools_named_alike(before, version) ||
		!services_same(before->services, version->services))
		return 0;
	services_unref(history, version->services);
	version->services = before->services;
	version->services->references++;
	return 0;
}

int gw_history_add(struct gw_history *history, const struct gw_build *build, uint64_t config,
	const struct gw_cause *cause, int64_t now_ms)
{
	const struct history_version *before =
		history->count ? history_at(history, history->count - 1) : NULL;
	struct history_version version = {.version = build->version,
		.config = config,
		.hash_seed = build->hash_seed,
		.published_ms = now_ms,
		.cause = *cause};
	int status = pools_take(history, &version, before, build);

	if (!status)
		status = services_take(history, &version, before, build);
	if (status < 0) {
		version_clear(history, &version);
		return status;
	}
	if (history->count == GW_HISTORY_VERSIONS)
		oldest_drop(history);
	history->ring[(history->first + history->count++) % GW_HISTORY_VERSIONS] = version;
	while (history->count > 1 && history->bytes > GW_HISTORY_BYTES)
		oldest_drop(history);
	return 0;
}

void gw_history_made_from(struct gw_history *history, uint64_t config)
{
	if (history->count)
		history->ring[(history->first + history->count - 1) % GW_HISTORY_VERSIONS].config =
			config;
}

void gw_history_in_force(struct gw_history *history, uint64_t version, int64_t now_ms)
{
	for (size_t i = 0; i < history->count; i++) {
		struct history_version *kept =
			&history->ring[(history->first + i) % GW_HISTORY_VERSIONS];

		if (kept->version == version && !kept->in_force_ms)
			kept->in_force_ms = now_ms;
	}
}

uint64_t gw_history_oldest(const struct gw_history *history)
{
	return history->count ? history_at(history, 0)->version : 0;
}

/* Pools whose table is not that of the version before. */
static json_t *changed_json(
	const struct history_version *version, const struct history_version *before)
{
	json_t *names = json_array();

	for (size_t i = 0; names && i < version->pool_count; i++) {
		const struct history_pool *pool = version->pools[i];
		const struct history_pool *was = pool_find(before, pool->name);

		if (was == pool ||
			(was && was->member_count == pool->member_count &&
				!memcmp(&was->digest, &pool->digest, sizeof(was->digest))))
			continue;
		if (json_array_append_new(names, json_string(pool->name)) < 0) {
			json_decref(names);
			return NULL;
		}
	}
	return names;
}

static json_t *time_json(int64_t wall_ms)
{
	char text[32];

	return wall_ms ? json_string(gw_time_format(wall_ms, text)) : json_null();
}

static json_t *version_json(
	const struct history_version *version, const struct history_version *before)
{
	char cause[GW_CAUSE_TEXT + 32];

	if (version->cause.more)
		snprintf(cause, sizeof(cause), "%s, and %u more", version->cause.text,
			version->cause.more);
	else
		snprintf(cause, sizeof(cause), "%s", version->cause.text);
	return json_pack("{s:I, s:I, s:o, s:o, s:s, s:o, s:I, s:I, s:o}", "version",
		(json_int_t)version->version, "config", (json_int_t)version->config, "published",
		time_json(version->published_ms), "in_force", time_json(version->in_force_ms),
		"cause", cause, "who",
		version->cause.who[0] ? json_string(version->cause.who) : json_null(), "services",
		(json_int_t)version->services->count, "pools", (json_int_t)version->pool_count,
		"changed", changed_json(version, before));
}

json_t *gw_history_json(const struct gw_history *history)
{
	json_t *list = json_array();

	for (size_t i = history->count; list && i-- > 0;) {
		if (json_array_append_new(list, version_json(history_at(history, i),
							i ? history_at(history, i - 1) : NULL)) <
			0) {
			json_decref(list);
			return NULL;
		}
	}
	return list;
}
