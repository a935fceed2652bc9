/* SPDX-License-Identifier: BSD-2-Clause */
/* Why a backend is what it is: its probes, their last answers, and what comes next. */
#include "api_routes.h"
#include "base/address.h"

#include <string.h>

static json_t *answers_json(const struct gw_monitor_view *view)
{
	json_t *list = json_array();

	for (size_t i = 0; i < view->answer_count; i++) {
		const struct gw_probe_answer *answer = view->answers[i];

		json_array_append_new(list,
			json_pack("{s:o, s:b, s:f, s:o}", "time", api_time(answer->time_ms),
				"success", answer->success, "duration_ms",
				(double)answer->duration_us / 1e3, "text", api_text(answer->text)));
	}
	return list;
}

static json_t *durations_json(const struct gw_durations *durations)
{
	json_t *buckets = json_array();

	for (size_t i = 0; i <= GW_DURATION_BUCKETS; i++)
		json_array_append_new(
			buckets, json_pack("{s:o, s:I}", "up_to_ms",
					 i < GW_DURATION_BUCKETS
						 ? json_real((double)gw_duration_bounds_us[i] / 1e3)
						 : json_null(),
					 "count", (json_int_t)durations->buckets[i]));
	return json_pack("{s:I, s:f, s:o}", "count", (json_int_t)durations->count, "sum_ms",
		(double)durations->sum_us / 1e3, "buckets", buckets);
}

static json_t *check_json(const struct gw_config_check *check)
{
	return json_pack("{s:s, s:s, s:I, s:I, s:I, s:I, s:i, s:i}", "type",
		gw_config_check_type_name(check->type), "via",
		check->via == GW_CONFIG_VIA_TUNNEL ? "tunnel" : "direct", "port",
		(json_int_t)check->port, "interval_ms", (json_int_t)check->interval_ms,
		"fast_interval_ms", (json_int_t)check->fast_interval_ms, "timeout_ms",
		(json_int_t)check->timeout_ms, "rise", check->rise, "fall", check->fall);
}

static json_t *probe_json(
	struct gw_daemon *daemon, const struct gw_build_pool *pool, const char *name)
{
	char address[GW_ADDRESS_TEXT], next[GW_HEALTH_CAUSE];
	struct gw_monitor_view view;
	json_t *object;

	if (!gw_monitor_view(daemon->monitor, pool->name, name, &view))
		return NULL;
	object = check_json(view.check);
	json_object_set_new(object, "pool", json_string(pool->name));
	json_object_set_new(
		object, "address", json_string(gw_address_format(view.address, address)));
	json_object_set_new(object, "health", json_string(gw_health_name(view.track.health)));
	json_object_set_new(object, "in_a_row", json_integer(view.track.streak));
	json_object_set_new(object, "in_a_row_of",
		view.track.streak
			? json_string(view.track.streak_of_success ? "success" : "failure")
			: json_null());
	json_object_set_new(
		object, "next", json_string(gw_health_next(&view.track, &view.rules, next)));
	json_object_set_new(object, "under_way", json_boolean(view.under_way));
	json_object_set_new(object, "due_in_ms", json_integer((json_int_t)view.due_in_ms));
	json_object_set_new(object, "fast", json_boolean(view.fast));
	json_object_set_new(object, "shared_by", json_integer((json_int_t)view.shared_by));
	json_object_set_new(object, "answers", answers_json(&view));
	json_object_set_new(object, "durations", durations_json(view.durations));
	return object;
}

void api_backend_explain(
	struct gw_daemon *daemon, const struct api_call *call, struct gw_http_reply *reply)
{
	const struct gw_build_pool *pool;
	const struct gw_build_backend *backend = api_backend_find(daemon, call, &pool, reply);
	const struct gw_runtime_backend *known;
	struct gw_publisher_stats stats;
	json_t *probes;

	if (!backend)
		return;
	api_stats(daemon, &stats);
	reply->json = api_backend_json(daemon, pool, backend, &stats);
	known = gw_runtime_find(gw_state_runtime(daemon->state), pool->name, backend->name);
	json_object_set_new(reply->json, "flips", json_integer(known ? known->flips : 0));
	json_object_set_new(reply->json, "entered", api_time(known ? known->entered_ms : 0));
	json_object_set_new(reply->json, "ramp", json_real(backend->effect.ramp / 100.0));
	probes = json_array();
	for (size_t i = 0; i < daemon->build->pool_count; i++) {
		const struct gw_build_pool *part = &daemon->build->pools[i];

		/* The pool itself, and one that is a part of it. */
		if (part == pool || !strcmp(part->base, pool->name))
			json_array_append_new(probes, probe_json(daemon, part, backend->name));
	}
	json_object_set_new(reply->json, "probes", probes);
}
