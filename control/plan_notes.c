/* SPDX-License-Identifier: BSD-2-Clause */
#include "control/plan_notes.h"

#include "control/config_compare.h"

#include <errno.h>
#include <string.h>

/* A table needs so many slots a backend for shares within about a per cent (Eisenbud et al.). */
#define SLOTS_PER_BACKEND 100u

static void backend_note(json_t *list, const struct gw_config_pool *pool,
	const struct gw_config_backend *backend, const char *change, json_t *keys)
{
	json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:o}", "pool", pool->name, "name",
					    backend->name, "change", change, "keys", keys));
}

/* The keys that differ; an empty array: none. */
static json_t *backend_keys(const struct gw_config_backend *was, const struct gw_config_backend *is)
{
	json_t *keys = json_array();

	if (memcmp(was->address, is->address, 16) != 0)
		json_array_append_new(keys, json_string("address"));
	if (was->weight != is->weight)
		json_array_append_new(keys, json_string("weight"));
	if (was->state != is->state)
		json_array_append_new(keys, json_string("state"));
	if (strcmp(was->key, is->key) != 0 && (was->key_place.file || is->key_place.file))
		json_array_append_new(keys, json_string("key"));
	return keys;
}

static void pool_backends_note(
	json_t *list, const struct gw_config_pool *was, const struct gw_config_pool *is)
{
	for (size_t i = 0; is && i < is->backend_count; i++) {
		const struct gw_config_backend *backend = &is->backends[i];
		const struct gw_config_backend *known =
			was ? gw_config_backend_find(was, backend->name) : NULL;
		json_t *keys;

		if (backend->removed)
			continue;
		if (!known || known->removed) {
			backend_note(list, is, backend, "added", json_array());
			continue;
		}
		keys = backend_keys(known, backend);
		if (json_array_size(keys))
			backend_note(list, is, backend, "changed", keys);
		else
			json_decref(keys);
	}
	for (size_t i = 0; was && i < was->backend_count; i++) {
		const struct gw_config_backend *backend = &was->backends[i];
		const struct gw_config_backend *known =
			is ? gw_config_backend_find(is, backend->name) : NULL;

		if (!backend->removed && (!known || known->removed))
			backend_note(list, was, backend, "removed", json_array());
	}
}

static json_t *backends_note(const struct gw_config *before, const struct gw_config *after)
{
	json_t *list = json_array();

	for (size_t i = 0; i < after->pool_count; i++)
		pool_backends_note(
			list, gw_config_pool_find(before, after->pools[i].name), &after->pools[i]);
	for (size_t i = 0; i < before->pool_count; i++)
		if (!gw_config_pool_find(after, before->pools[i].name))
			pool_backends_note(list, &before->pools[i], NULL);
	return list;
}

static size_t backends_own(const struct gw_config_pool *pool)
{
	size_t count = 0;

	for (size_t i = 0; i < pool->backend_count; i++)
		count += !pool->backends[i].removed;
	return count;
}

static void pool_warn(
	json_t *lines, const struct gw_config_pool *pool, const struct gw_build_pool *built)
{
	const struct gw_pool_effect *effect = &built->effect;
	size_t own = backends_own(pool);

	if (!built->member_count)
		json_array_append_new(lines,
			json_sprintf("pool %s: no backend is eligible: new flows would be dropped",
				pool->name));
	if (effect->panic)
		json_array_append_new(lines,
			json_sprintf("pool %s: %u of %u backends are healthy, under panic_below "
				     "%u%%: all that are not disabled would be used",
				pool->name, effect->healthy, effect->not_disabled,
				pool->panic_below));
	if (pool->table_size < SLOTS_PER_BACKEND * own)
		json_array_append_new(lines,
			json_sprintf("pool %s: table_size %u is less than %u x %zu backends: their "
				     "shares would be uneven",
				pool->name, pool->table_size, SLOTS_PER_BACKEND, own));
}

/* Where flows are not tracked a drain is no farewell: whoever leaves the table leaves at once. */
static void untracked_warn(json_t *lines, const struct gw_config *before,
	const struct gw_config_service *service, const struct gw_build_pool *pool)
{
	const struct gw_config_service *was = gw_config_service_find(before, service->name);
	unsigned int draining = 0;

	if (service->track_flows)
		return;
	for (size_t b = 0; pool && b < pool->backend_count; b++)
		draining += pool->backends[b].effect.state == GW_BACKEND_DRAIN;
	if (draining)
		json_array_append_new(lines,
			json_sprintf(
				"service %s: track_flows is false: what drains in pool %s (%u) "
				"loses its packets at once",
				service->name, pool->name, draining));
	if (was && was->track_flows)
		json_array_append_new(lines,
			json_sprintf("service %s: track_flows becomes false: flows that are not "
				     "where the table has them would move at once",
				service->name));
}

static json_t *warnings_note(const struct gw_config *before, const struct gw_config *config,
	const struct gw_build *build)
{
	json_t *lines = json_array();

	for (size_t i = 0; i < config->pool_count; i++) {
		const struct gw_build_pool *built =
			gw_build_pool_find(build, config->pools[i].name);

		if (built)
			pool_warn(lines, &config->pools[i], built);
	}
	for (size_t i = 0; i < config->service_count; i++)
		if (config->services[i].announce == GW_CONFIG_ANNOUNCE_NONE)
			json_array_append_new(lines,
				json_sprintf("service %s: announce is none: its addresses attract "
					     "traffic only by routes that others keep to this node",
					config->services[i].name));
	for (size_t i = 0; i < config->service_count; i++)
		untracked_warn(lines, before, &config->services[i],
			gw_build_pool_find(build, config->services[i].pool_name));
	return lines;
}

int gw_plan_notes(json_t *plan, const struct gw_config *before, const struct gw_config *after,
	const struct gw_build *build)
{
	int status = json_object_set_new(plan, "backends", backends_note(before, after));

	if (!status)
		status = json_object_set_new(plan, "warnings", warnings_note(before, after, build));
	if (!status)
		status = json_object_set_new(plan, "moves", gw_config_moves(before, after));
	if (!status)
		status = json_object_set_new(plan, "restarts", gw_config_restarts(before, after));
	return status < 0 ? -ENOMEM : 0;
}
