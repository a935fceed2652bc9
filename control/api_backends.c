/* SPDX-License-Identifier: BSD-2-Clause */
/* Backends: listing them, and changing them by hand. */
#include "api_routes.h"
#include "base/address.h"
#include "base/log.h"

#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static json_t *override_json(const struct gw_override *override)
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
	return object;
}

static bool override_given(const struct gw_runtime_backend *known)
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
	json_object_set_new(object, "held_until", api_time(effect->held_until_ms));
	json_object_set_new(object, "override",
		override_given(known) ? override_json(&known->override) : json_null());
	json_object_set_new(object, "key", api_text(backend->key));
	json_object_set_new(object, "id", json_integer(backend->id));
	return object;
}

void api_backends(struct gw_daemon *daemon, const struct api_call *call, struct gw_api_reply *reply)
{
	const char *only = gw_api_argument(call->request, "pool");
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
	reply->body = list;
}

const struct gw_build_backend *api_backend_find(struct gw_daemon *daemon,
	const struct api_call *call, const struct gw_build_pool **pool, struct gw_api_reply *reply)
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

void api_backend(struct gw_daemon *daemon, const struct api_call *call, struct gw_api_reply *reply)
{
	const struct gw_build_pool *pool;
	const struct gw_build_backend *backend = api_backend_find(daemon, call, &pool, reply);
	struct gw_publisher_stats stats;

	if (!backend)
		return;
	api_stats(daemon, &stats);
	reply->body = api_backend_json(daemon, pool, backend, &stats);
}

void api_caller_name(const struct api_call *call, char *text, size_t size)
{
	struct passwd entry, *found = NULL;
	char buffer[1024];

	getpwuid_r(call->request->uid, &entry, buffer, sizeof(buffer), &found);
	if (found)
		snprintf(text, size, "%s", found->pw_name);
	else
		snprintf(text, size, "uid %u", call->request->uid);
}

struct change {
	const char *action;
	json_int_t weight;
	const char *reason;
	char who[GW_RUNTIME_WHO];
};

static bool change_read(const struct api_call *call, json_t *body, struct change *change,
	struct gw_api_reply *reply)
{
	json_t *weight = json_object_get(body, "weight");

	change->action = json_string_value(json_object_get(body, "action"));
	change->reason = json_string_value(json_object_get(body, "reason"));
	change->weight = json_integer_value(weight);
	api_caller_name(call, change->who, sizeof(change->who));
	if (!change->action) {
		api_error(reply, 400,
			"\"action\" is missing: drain, enable, disable, weight or "
			"clear");
		return false;
	}
	if (!strcmp(change->action, "weight") &&
		(!json_is_integer(weight) || change->weight < 0 || change->weight > UINT32_MAX)) {
		char *text = weight ? json_dumps(weight, JSON_ENCODE_ANY) : NULL;

		api_error(reply, 400, "\"weight\" is %s: it must be an integer from 0 to %u",
			text ? text : "missing", UINT32_MAX);
		free(text);
		return false;
	}
	return true;
}

/* As gw_runtime_override_*: 1 changed, 0 was so; -EINVAL for an unknown action. */
static int change_apply(
	struct gw_daemon *daemon, const struct api_call *call, const struct change *change)
{
	static const struct {
		const char *action;
		enum gw_config_backend_state state;
	} states[] = {
		{"drain", GW_CONFIG_DRAIN},
		{"enable", GW_CONFIG_ACTIVE},
		{"disable", GW_CONFIG_DISABLED},
	};
	struct gw_runtime *runtime = gw_state_runtime(daemon->state);
	const char *why = change->reason ? change->reason : "";
	const char *pool = call->words[0], *name = call->words[1];
	int64_t now = gw_clock_wall_ms();

	if (!strcmp(change->action, "clear"))
		return gw_runtime_override_clear(runtime, pool, name, now);
	if (!strcmp(change->action, "weight"))
		return gw_runtime_override_weight(
			runtime, pool, name, (uint32_t)change->weight, change->who, why, now);
	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++)
		if (!strcmp(change->action, states[i].action))
			return gw_runtime_override_state(
				runtime, pool, name, states[i].state, change->who, why, now);
	return -EINVAL;
}

static void change_tell(
	struct gw_daemon *daemon, const struct api_call *call, const struct change *change)
{
	char subject[2 * GW_NAME_MAX + 2], to[32];

	snprintf(subject, sizeof(subject), "%s/%s", call->words[0], call->words[1]);
	if (!strcmp(change->action, "weight"))
		snprintf(to, sizeof(to), "weight %lld", (long long)change->weight);
	else
		snprintf(to, sizeof(to), "%s", change->action);
	gw_events_add(daemon->events, "override", subject, "", to, "by %s%s%s", change->who,
		change->reason ? ": " : "", change->reason ? change->reason : "");
}

/* What people said is on disk before they hear that it is done, and packets follow it at once. */
static void change_take(struct gw_daemon *daemon)
{
	int ret = gw_state_writer_flush(daemon->writer);

	if (ret)
		gw_log_error("cannot write the state in %s: %s; the change is lost if "
			     "guideway-control crashes",
			gw_daemon_state_dir(daemon), strerror(-ret));
	gw_daemon_publish(daemon);
}

void api_backend_change(
	struct gw_daemon *daemon, const struct api_call *call, struct gw_api_reply *reply)
{
	const struct gw_build_pool *pool;
	struct change change = {0};
	json_t *body;
	int ret;

	if (!api_backend_find(daemon, call, &pool, reply))
		return;
	body = api_body(call, reply);
	if (!body)
		return;
	if (change_read(call, body, &change, reply)) {
		ret = change_apply(daemon, call, &change);
		if (ret == -EINVAL) {
			api_error(reply, 400,
				"no such action: \"%.40s\"; there are drain, enable, disable, "
				"weight "
				"and clear",
				change.action);
		} else if (ret < 0) {
			api_error(reply, 500, "%s", strerror(-ret));
		} else {
			if (ret) {
				change_tell(daemon, call, &change);
				change_take(daemon);
			}
			/* The build may be a new one: look the backend up again. */
			api_backend(daemon, call, reply);
			json_object_set_new(reply->body, "changed", json_boolean(ret));
		}
	}
	json_decref(body);
}

void api_overrides(
	struct gw_daemon *daemon, const struct api_call *call, struct gw_api_reply *reply)
{
	const struct gw_runtime *runtime = gw_state_runtime(daemon->state);
	json_t *list = json_array();

	for (size_t i = 0; i < gw_runtime_count(runtime); i++) {
		const struct gw_runtime_backend *known = gw_runtime_at(runtime, i);
		json_t *object;

		if (!override_given(known))
			continue;
		object = override_json(&known->override);
		json_object_set_new(object, "pool", json_string(known->pool));
		json_object_set_new(object, "name", json_string(known->name));
		json_object_set_new(object, "until",
			json_string("the file's own value for this backend changes"));
		json_array_append_new(list, object);
	}
	reply->body = list;
}

void api_overrides_clear(
	struct gw_daemon *daemon, const struct api_call *call, struct gw_api_reply *reply)
{
	struct gw_runtime *runtime = gw_state_runtime(daemon->state);
	char who[GW_RUNTIME_WHO], subject[2 * GW_NAME_MAX + 2];
	json_int_t cleared = 0;

	api_caller_name(call, who, sizeof(who));
	for (size_t i = 0; i < gw_runtime_count(runtime); i++) {
		const struct gw_runtime_backend *known = gw_runtime_at(runtime, i);

		if (!override_given(known) || gw_runtime_override_clear(runtime, known->pool,
						      known->name, gw_clock_wall_ms()) <= 0)
			continue;
		snprintf(subject, sizeof(subject), "%s/%s", known->pool, known->name);
		gw_events_add(daemon->events, "override", subject, "set", "clear", "by %s", who);
		cleared++;
	}
	if (cleared) {
		change_take(daemon);
	}
	reply->body = json_pack("{s:I}", "cleared", cleared);
}
