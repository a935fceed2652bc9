/* SPDX-License-Identifier: BSD-2-Clause */
/* The runtime table as JSON, for the state file. Nothing read is trusted. */
#include "control/runtime.h"
#include "control/runtime_table.h"

#include <jansson.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static json_t *override_dump(const struct gw_override *override)
{
	json_t *object = json_pack("{s:I,s:s,s:s,s:s,s:I}", "since",
		(json_int_t) override->since_ms, "who", override->who, "why", override->why,
		"file_state", gw_config_backend_state_name(override->file_state), "file_weight",
		(json_int_t) override->file_weight);
	int status = object ? 0 : -1;

	if (!status && override->has_state)
		status = json_object_set_new(object, "state",
			json_string(gw_config_backend_state_name(override->state)));
	if (!status && override->has_weight)
		status = json_object_set_new(object, "weight", json_integer(override->weight));
	if (!status && override->until_ms)
		status = json_object_set_new(object, "until", json_integer(override->until_ms));
	if (!status)
		return object;
	json_decref(object);
	return NULL;
}

static json_t *backend_dump(const struct gw_runtime_backend *backend)
{
	char address[GW_ADDRESS_TEXT];
	json_t *object = json_pack("{s:s,s:s,s:s,s:s,s:I,s:b,s:b,s:s,s:I,s:I,s:I,s:I,s:s}", "pool",
		backend->pool, "name", backend->name, "address",
		gw_address_format(backend->address, address), "file_state",
		gw_config_backend_state_name(backend->file_state), "file_weight",
		(json_int_t)backend->file_weight, "checked", backend->checked, "presumed",
		backend->presumed, "health", gw_health_name(backend->health), "health_since",
		(json_int_t)backend->health_since_ms, "drain_since",
		(json_int_t)backend->drain_since_ms, "since", (json_int_t)backend->since_ms,
		"last_failure_at", (json_int_t)backend->last_failure_ms, "last_failure",
		backend->last_failure);

	if (object)
		json_object_update_new(object,
			json_pack("{s:I,s:I,s:b,s:I}", "flips", (json_int_t)backend->flips,
				"held_until", (json_int_t)backend->held_until_ms, "entered",
				backend->entered, "entered_at", (json_int_t)backend->entered_ms));
	if (!object || (!backend->override.has_state && !backend->override.has_weight))
		return object;
	if (json_object_set_new(object, "override", override_dump(&backend->override)) < 0) {
		json_decref(object);
		return NULL;
	}
	return object;
}

json_t *gw_runtime_dump(const struct gw_runtime *runtime)
{
	json_t *array = json_array();

	for (size_t i = 0; array && i < runtime->count; i++) {
		if (json_array_append_new(array, backend_dump(&runtime->list[i])) < 0) {
			json_decref(array);
			return NULL;
		}
	}
	return array;
}

static bool state_load(const char *text, enum gw_config_backend_state *state)
{
	for (int i = GW_CONFIG_ACTIVE; i <= GW_CONFIG_DISABLED; i++) {
		if (!strcmp(text, gw_config_backend_state_name(i))) {
			*state = i;
			return true;
		}
	}
	return false;
}

static bool health_load(const char *text, enum gw_health *health)
{
	for (int i = GW_HEALTH_UNKNOWN; i <= GW_HEALTH_DOWN; i++) {
		if (!strcmp(text, gw_health_name(i))) {
			*health = i;
			return true;
		}
	}
	return false;
}

static bool weight_load(json_int_t value, uint32_t *weight)
{
	if (value < 0 || value > UINT32_MAX)
		return false;
	*weight = (uint32_t)value;
	return true;
}

static bool override_load(json_t *object, struct gw_override *override)
{
	const char *who, *why, *file_state, *state = NULL;
	json_int_t since, file_weight, weight = -1, until = 0;

	if (json_unpack(object, "{s:I,s:s,s:s,s:s,s:I,s?s,s?I,s?I}", "since", &since, "who", &who,
		    "why", &why, "file_state", &file_state, "file_weight", &file_weight, "state",
		    &state, "weight", &weight, "until", &until) < 0 ||
		until < 0)
		return false;
	override->since_ms = since;
	override->until_ms = until;
	runtime_text_copy(override->who, sizeof(override->who), who);
	runtime_text_copy(override->why, sizeof(override->why), why);
	override->has_state = state != NULL;
	override->has_weight = weight != -1;
	return (state || override->has_weight) && state_load(file_state, &override->file_state) &&
	       weight_load(file_weight, &override->file_weight) &&
	       (!state || state_load(state, &override->state)) &&
	       (!override->has_weight || weight_load(weight, &override->weight));
}

/* 0, -EINVAL or -ENOMEM. */
static int backend_load(json_t *object, struct gw_arena *arena, struct gw_runtime_backend *backend)
{
	const char *pool, *name, *address, *file_state, *health, *failure;
	json_int_t file_weight, health_since, drain_since, since, failure_at;
	json_int_t flips = 0, held_until = 0, entered_at = 0;
	json_t *override = NULL;
	int checked, presumed, entered = -1; /* absent in files of older versions */

	if (json_unpack(object,
		    "{s:s,s:s,s:s,s:s,s:I,s:b,s:b,s:s,s:I,s:I,s:I,s:I,s:s,s?o,s?I,s?I,s?b,s?I}",
		    "pool", &pool, "name", &name, "address", &address, "file_state", &file_state,
		    "file_weight", &file_weight, "checked", &checked, "presumed", &presumed,
		    "health", &health, "health_since", &health_since, "drain_since", &drain_since,
		    "since", &since, "last_failure_at", &failure_at, "last_failure", &failure,
		    "override", &override, "flips", &flips, "held_until", &held_until, "entered",
		    &entered, "entered_at", &entered_at) < 0 ||
		flips < 0 || flips > UINT32_MAX)
		return -EINVAL;
	backend->flips = (uint32_t)flips;
	backend->held_until_ms = held_until;
	backend->entered = entered > 0;
	backend->fresh = entered < 0;
	backend->entered_ms = entered_at;
	backend->checked = checked;
	backend->presumed = presumed;
	backend->health_since_ms = health_since;
	backend->drain_since_ms = drain_since;
	backend->since_ms = since;
	backend->last_failure_ms = failure_at;
	runtime_text_copy(backend->last_failure, sizeof(backend->last_failure), failure);
	if (gw_address_parse(address, backend->address) < 0 ||
		!state_load(file_state, &backend->file_state) ||
		!health_load(health, &backend->health) ||
		!weight_load(file_weight, &backend->file_weight) ||
		(override && !override_load(override, &backend->override)))
		return -EINVAL;
	backend->pool = gw_arena_strndup(arena, pool, strlen(pool));
	backend->name = gw_arena_strndup(arena, name, strlen(name));
	return backend->pool && backend->name ? 0 : -ENOMEM;
}

static int backend_order(const void *a, const void *b)
{
	const struct gw_runtime_backend *left = a, *right = b;

	return runtime_compare(left->pool, left->name, right->pool, right->name);
}

static int list_load(const json_t *json, struct gw_runtime *next)
{
	next->count = json_array_size(json);
	next->list = calloc(next->count ? next->count : 1, sizeof(*next->list));
	next->arena = gw_arena_new();
	if (!next->list || !next->arena)
		return -ENOMEM;
	for (size_t i = 0; i < next->count; i++) {
		int status = backend_load(json_array_get(json, i), next->arena, &next->list[i]);

		if (status < 0)
			return status;
	}
	qsort(next->list, next->count, sizeof(*next->list), backend_order);
	for (size_t i = 1; i < next->count; i++)
		if (!backend_order(&next->list[i - 1], &next->list[i]))
			return -EINVAL;
	return 0;
}

int gw_runtime_load(struct gw_runtime *runtime, const json_t *json)
{
	struct gw_runtime next = {0};
	int status = json_is_array(json) ? list_load(json, &next) : -EINVAL;
	struct gw_runtime unused = status < 0 ? next : *runtime;

	if (!status)
		*runtime = next;
	free(unused.list);
	gw_arena_free(unused.arena);
	return status;
}
