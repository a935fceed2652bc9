/* SPDX-License-Identifier: BSD-2-Clause */
/* Backends, as they are shown. */
#include "api_routes.h"
#include "base/address.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

json_t *api_override_json(const struct gw_override *override)
{
	json_t *object = json_object();

	json_object_set_new(object, "state",
		override->has_state ? json_string(gw_config_backend_state_name(override->state))
				    : json_null());
	json_object_set_new(object, "weight",
		override->has_weight ? json_integer(override->weight) : json_null());
	json_object_set_new(object, "who", api_text(override->who));
	json_object_set_new(object, "why", api_text(override->why));
	json_object_set_new(object, "since", api_time(override->since_ms));
	json_object_set_new(object, "ends", api_time(override->until_ms));
	return object;
}

bool api_override_given(const struct gw_runtime_backend *known)
{
	return known && (known->override.has_state || known->override.has_weight);
}

static json_t *traffic_json(json_t *object, const struct gw_publisher_stats *stats, uint32_t id)
{
	bool counted = stats->backends && id < stats->backend_count;

	json_object_set_new(object, "packets",
		json_integer(counted ? (json_int_t)stats->backends[id].packets : 0));
	json_object_set_new(
		object, "bytes", json_integer(counted ? (json_int_t)stats->backends[id].bytes : 0));
	json_object_set_new(object, "active_flows",
		json_integer(counted && stats->backend_flows ? stats->backend_flows[id] : 0));
	return object;
}

/* Whole unless it is rising (slow_start). */
static json_t *weight_json(uint32_t weight, uint32_t scale)
{
	return weight % scale ? json_real((double)weight / scale) : json_integer(weight / scale);
}

json_t *api_backend_json(struct gw_daemon *daemon, const struct gw_build_pool *pool,
	const struct gw_build_backend *backend, const struct gw_publisher_stats *stats)
{
	const struct gw_effect *effect = &backend->effect;
	const struct gw_runtime_backend *known =
		gw_runtime_find(gw_state_runtime(daemon->state), pool->name, backend->name);
	char address[GW_ADDRESS_TEXT];
	json_t *object = json_pack("{s:s, s:s, s:s, s:s, s:s, s:I, s:o, s:I, s:f}", "pool",
		pool->name, "name", backend->name, "address",
		gw_address_format(backend->address, address), "state",
		gw_backend_state_name(effect->state), "health", gw_health_name(effect->health),
		"weight", (json_int_t)effect->base_weight, "effective_weight",
		weight_json(effect->weight, pool->effect.scale), "slots",
		(json_int_t)backend->slots, "share",
		pool->member_count ? (double)backend->slots / pool->table_size : 0.0);

	traffic_json(object, stats, backend->id);
	json_object_set_new(object, "since", api_time(known ? known->since_ms : 0));
	json_object_set_new(object, "last_failure", api_text(known ? known->last_failure : NULL));
	json_object_set_new(
		object, "last_failure_at", api_time(known ? known->last_failure_ms : 0));
	json_object_set_new(object, "reason", json_string(gw_reason_text(effect->reason)));
	json_object_set_new(object, "drain_until", api_time(effect->drain_until_ms));
	json_object_set_new(object, "removed", json_boolean(known && known->removed));
	json_object_set_new(object, "held_until", api_time(effect->held_until_ms));
	json_object_set_new(object, "override",
		api_override_given(known) ? api_override_json(&known->override) : json_null());
	json_object_set_new(object, "key", api_text(backend->key));
	json_object_set_new(object, "id", json_integer(backend->id));
	return object;
}

void api_backends(
	struct gw_daemon *daemon, const struct api_call *call, struct gw_http_reply *reply)
{
	const char *only = gw_http_argument(call->request, "pool");
	const struct gw_build *build = daemon->build;
	struct gw_publisher_stats stats;
	json_t *list;

	if (only && !gw_build_pool_find(build, only)) {
		api_error(reply, 404, "no pool \"%s\"", only);
		return;
	}
	api_stats(daemon, &stats);
	list = json_array();
	for (size_t p = 0; p < build->pool_count; p++) {
		const struct gw_build_pool *pool = &build->pools[p];

		for (size_t b = 0; b < pool->backend_count; b++)
			if (!only || !strcmp(only, pool->name))
				json_array_append_new(list,
					api_backend_json(daemon, pool, &pool->backends[b], &stats));
	}
	reply->json = list;
}

const struct gw_build_backend *api_backend_find(struct gw_daemon *daemon,
	const struct api_call *call, const struct gw_build_pool **pool, struct gw_http_reply *reply)
{
	*pool = gw_build_pool_find(daemon->build, call->words[0]);
	if (!*pool) {
		api_error(reply, 404, "no pool \"%s\"", call->words[0]);
		return NULL;
	}
	for (size_t b = 0; b < (*pool)->backend_count; b++)
		if (!strcmp((*pool)->backends[b].name, call->words[1]))
			return &(*pool)->backends[b];
	api_error(reply, 404, "no backend \"%s\" in pool \"%s\"", call->words[1], call->words[0]);
	return NULL;
}

void api_backend(struct gw_daemon *daemon, const struct api_call *call, struct gw_http_reply *reply)
{
	const struct gw_build_pool *pool;
	const struct gw_build_backend *backend = api_backend_find(daemon, call, &pool, reply);
	struct gw_publisher_stats stats;

	if (!backend)
		return;
	api_stats(daemon, &stats);
	reply->json = api_backend_json(daemon, pool, backend, &stats);
}
