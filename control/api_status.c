/* SPDX-License-Identifier: BSD-2-Clause */
/* The whole at a glance: status, what is wrong, events. */
#include "api_routes.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define EVENTS_LIMIT 500

static void problem(json_t *list, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void problem(json_t *list, const char *format, ...)
{
	char text[512];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	json_array_append_new(list, api_text(text));
}

static void pools_problems(const struct gw_build *build, json_t *list)
{
	for (size_t p = 0; p < build->pool_count; p++) {
		const struct gw_build_pool *pool = &build->pools[p];

		if (!pool->member_count)
			problem(list, "pool %s has no eligible backend: new flows are dropped",
				pool->name);
		else if (pool->effect.panic)
			problem(list,
				"pool %s is in panic: %u of %u backends healthy, all that are not "
				"disabled are used",
				pool->name, pool->effect.healthy, pool->effect.not_disabled);
	}
}

/* What an operator should act on, a line each; empty when all is well. */
static json_t *problems_json(const struct gw_daemon *daemon)
{
	const struct gw_daemon_datapath *datapath = &daemon->datapath;
	json_t *list = json_array();

	if (!datapath->present)
		problem(list, "no datapath%s%s", datapath->detail[0] ? ": " : "", datapath->detail);
	else if (datapath->detail[0])
		problem(list, "datapath: %s", datapath->detail);
	if (datapath->refused)
		problem(list, "snapshot %" PRIu64 " was refused: %s", datapath->refused,
			datapath->why);
	if (!daemon->load.valid)
		problem(list, "%s is invalid (errors: %zu): the configuration read before goes on",
			daemon->options.config, json_array_size(daemon->load.errors));
	pools_problems(daemon->build, list);
	return list;
}

static json_t *pools_json(const struct gw_build *build)
{
	json_t *list = json_array();

	for (size_t p = 0; p < build->pool_count; p++) {
		const struct gw_build_pool *pool = &build->pools[p];
		char digest[33];

		json_array_append_new(
			list, json_pack("{s:s, s:I, s:I, s:I, s:b, s:I, s:s, s:I}", "pool",
				      pool->name, "backends", (json_int_t)pool->backend_count,
				      "healthy", (json_int_t)pool->effect.healthy, "members",
				      (json_int_t)pool->member_count, "panic", pool->effect.panic,
				      "table_size", (json_int_t)pool->table_size, "digest",
				      gw_digest_format(&pool->digest, digest), "table_version",
				      (json_int_t)pool->table_version));
	}
	return list;
}

static json_t *config_json(const struct gw_daemon *daemon)
{
	json_t *object = json_object();

	json_object_set_new(object, "file", api_text(daemon->options.config));
	json_object_set_new(object, "loaded", api_time(daemon->loaded_ms));
	json_object_set_new(object, "valid", json_boolean(daemon->load.valid));
	json_object_set_new(object, "checked", api_time(daemon->load.time_ms));
	json_object_set_new(object, "errors",
		daemon->load.errors ? json_incref(daemon->load.errors) : json_array());
	return object;
}

static json_t *snapshot_json(const struct gw_daemon *daemon)
{
	const struct gw_daemon_datapath *datapath = &daemon->datapath;
	json_t *object = json_object();

	json_object_set_new(object, "built", json_integer((json_int_t)daemon->build->version));
	json_object_set_new(object, "in_force", json_integer((json_int_t)datapath->in_force));
	json_object_set_new(object, "since", api_time(datapath->in_force_ms));
	json_object_set_new(object, "build_ms", json_real((double)daemon->build->took_ns / 1e6));
	json_object_set_new(object, "swap_ms", json_real((double)datapath->took_ns / 1e6));
	return object;
}

static json_t *datapath_json(struct gw_daemon *daemon)
{
	json_t *object = json_object();
	json_t *particulars = daemon->publisher->ops->describe
				      ? daemon->publisher->ops->describe(daemon->publisher)
				      : NULL;

	json_object_set_new(object, "path", json_string(daemon->publisher->ops->name));
	json_object_set_new(object, "present", json_boolean(daemon->datapath.present));
	json_object_set_new(object, "detail", api_text(daemon->datapath.detail));
	if (particulars)
		json_object_update_missing_new(object, particulars);
	return object;
}

static json_t *flows_json(const struct gw_publisher_stats *stats)
{
	return json_pack("{s:I, s:I}", "active", (json_int_t)stats->flows_active, "capacity",
		(json_int_t)stats->flow_capacity);
}

void api_status(struct gw_daemon *daemon, const struct api_call *call, struct gw_http_reply *reply)
{
	struct gw_publisher_stats stats;
	json_t *object = json_object();
	json_t *problems = problems_json(daemon);

	api_stats(daemon, &stats);
	json_object_set_new(object, "version", json_string(GW_VERSION));
	json_object_set_new(object, "node", api_text(daemon->config->node.name));
	json_object_set_new(object, "node_state", gw_node_json(daemon->node));
	json_object_set_new(object, "pid", json_integer(getpid()));
	json_object_set_new(object, "started", api_time(daemon->start_ms));
	json_object_set_new(
		object, "uptime_ms", json_integer(gw_clock_wall_ms() - daemon->start_ms));
	json_object_set_new(object, "ok", json_boolean(!json_array_size(problems)));
	json_object_set_new(object, "problems", problems);
	json_object_set_new(object, "config", config_json(daemon));
	json_object_set_new(object, "datapath", datapath_json(daemon));
	json_object_set_new(object, "snapshot", snapshot_json(daemon));
	json_object_set_new(
		object, "services", json_integer((json_int_t)daemon->build->service_count));
	json_object_set_new(object, "pools", pools_json(daemon->build));
	json_object_set_new(object, "flows", flows_json(&stats));
	json_object_set_new(object, "packets",
		json_pack("{s:I, s:I}", "rx", (json_int_t)stats.counters.rx, "tx",
			(json_int_t)stats.counters.tx));
	reply->json = object;
}

void api_events(struct gw_daemon *daemon, const struct api_call *call, struct gw_http_reply *reply)
{
	const char *text = gw_http_argument(call->request, "since");
	uint64_t since = 0;
	char *end;

	if (text) {
		errno = 0;
		since = strtoull(text, &end, 10);
		if (errno || *end || text[0] < '0' || text[0] > '9') {
			api_error(reply, 400, "\"since\" takes an event's number, not \"%.40s\"",
				text);
			return;
		}
	}
	reply->json = gw_events_json(daemon->events, since, EVENTS_LIMIT);
}
