/* SPDX-License-Identifier: BSD-2-Clause */
#include "api_routes.h"
#include "control/config.h"
#include "control/config_compare.h"
#include "control/plan_notes.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

void api_config(struct gw_daemon *daemon, const struct api_call *call, struct gw_http_reply *reply)
{
	reply->json = gw_config_dump(daemon->config);
}

/* What a configuration that was taken is now. */
static json_t *taken_json(struct gw_daemon *daemon, bool changed)
{
	const struct gw_state_config *state = gw_state_config(daemon->state);

	return json_pack("{s:s, s:b, s:I, s:I, s:I, s:I, s:I, s:b, s:o}", "file",
		daemon->options.config, "changed", changed, "version",
		(json_int_t)daemon->build->version, "config", (json_int_t)state->version, "pools",
		(json_int_t)daemon->build->pool_count, "services",
		(json_int_t)daemon->build->service_count, "rebuilt",
		(json_int_t)(changed ? daemon->build->rebuilt_count : 0), "set_aside", state->held,
		"confirm_until", api_time(state->until_ms));
}

static void taken_answer(
	struct gw_daemon *daemon, int ret, bool changed, struct gw_http_reply *reply)
{
	if (!ret)
		reply->json = taken_json(daemon, changed);
	else if (ret == -EPERM)
		api_errors(reply, 409,
			"it moves flows: ask with \"accept_moves\" (--accept-moves) if that is "
			"meant",
			json_incref(daemon->load.errors));
	else if (ret == -EINVAL)
		api_errors(reply, 422, "the file is invalid, the configuration in use goes on",
			daemon->load.errors ? json_incref(daemon->load.errors) : json_array());
	else
		api_error(reply, 500, "%s", strerror(-ret));
}

#define CONFIRM_MAX_MS (24 * 3600 * 1000)

void api_config_reload(
	struct gw_daemon *daemon, const struct api_call *call, struct gw_http_reply *reply)
{
	static const struct api_field fields[] = {
		{"accept_moves", API_BOOLEAN, 0, 0, NULL},
		{"confirm_within_ms", API_INTEGER, 1, CONFIRM_MAX_MS, NULL},
	};
	struct gw_daemon_wish wish = {.why = "config reload", .who = call->caller.name};
	json_t *body = api_body(call, fields, sizeof(fields) / sizeof(fields[0]), reply);
	bool changed = false;
	int ret;

	if (!body)
		return;
	wish.accept_moves = json_is_true(json_object_get(body, "accept_moves"));
	wish.confirm_ms = (uint32_t)json_integer_value(json_object_get(body, "confirm_within_ms"));
	json_decref(body);
	ret = gw_daemon_reload(daemon, &wish, &changed);
	taken_answer(daemon, ret, changed, reply);
}

void api_config_rollback(
	struct gw_daemon *daemon, const struct api_call *call, struct gw_http_reply *reply)
{
	static const struct api_field fields[] = {
		{"version", API_INTEGER, 1, INT64_MAX, "the version to go back to"},
		{"accept_moves", API_BOOLEAN, 0, 0, NULL},
	};
	json_t *body = api_body(call, fields, sizeof(fields) / sizeof(fields[0]), reply);
	struct gw_daemon_wish wish = {.who = call->caller.name};
	uint64_t version;
	char why[48];
	int ret;

	if (!body)
		return;
	version = (uint64_t)json_integer_value(json_object_get(body, "version"));
	wish.accept_moves = json_is_true(json_object_get(body, "accept_moves"));
	json_decref(body);
	snprintf(why, sizeof(why), "config rollback %llu", (unsigned long long)version);
	wish.why = why;
	ret = version > daemon->build->version ? -ENOENT
					       : gw_daemon_rollback(daemon, version, &wish);
	if (ret == -ENOENT)
		api_error(reply, 404, "no configuration of version %llu is kept; see table history",
			(unsigned long long)version);
	else
		taken_answer(daemon, ret, true, reply);
}

void api_config_confirm(
	struct gw_daemon *daemon, const struct api_call *call, struct gw_http_reply *reply)
{
	json_t *body = api_body(call, NULL, 0, reply);

	if (!body)
		return;
	json_decref(body);
	if (gw_daemon_confirm(daemon, call->caller.name))
		api_error(reply, 409, "no reload awaits confirmation");
	else
		reply->json = taken_json(daemon, false);
}

static json_t *lines_of(const struct gw_config_errors *errors)
{
	json_t *lines = json_array();
	char line[1024];

	for (size_t i = 0; i < errors->count; i++) {
		gw_config_error_format(&errors->list[i], line, sizeof(line));
		json_array_append_new(lines, api_text(line));
	}
	return lines;
}

/* The file as it is now beside what is in use. */
void api_config_diff(
	struct gw_daemon *daemon, const struct api_call *call, struct gw_http_reply *reply)
{
	struct gw_config_errors errors = {0};
	struct gw_config *config;
	json_t *changes;
	int ret = gw_config_load(daemon->options.config, GW_CONFIG_DAEMON, &config, &errors);

	if (ret) {
		api_errors(reply, ret == -EINVAL ? 422 : 500, "the file is invalid",
			lines_of(&errors));
		gw_config_errors_free(&errors);
		return;
	}
	gw_config_errors_free(&errors);
	changes = gw_config_differences(daemon->config, config);
	reply->json = json_pack("{s:s, s:b, s:o, s:o, s:o}", "file", daemon->options.config, "same",
		!json_array_size(changes), "changes", changes, "moves",
		gw_config_moves(daemon->config, config), "restarts",
		gw_config_restarts(daemon->config, config));
	gw_config_free(config);
}

/* The body is a configuration, YAML or JSON; it may open no files. Nothing is changed. */
void api_config_plan(
	struct gw_daemon *daemon, const struct api_call *call, struct gw_http_reply *reply)
{
	struct gw_config_errors errors = {0};
	char error[GW_BUILD_ERROR];
	struct gw_config *config;
	struct gw_build *build;
	int ret;

	ret = gw_config_load_string("plan", call->request->body, call->request->body_length,
		GW_CONFIG_DAEMON | GW_CONFIG_PARTS | GW_CONFIG_NO_FILES, &config, &errors);
	if (ret) {
		api_errors(reply, ret == -EINVAL ? 422 : 500, "the configuration is invalid",
			lines_of(&errors));
		gw_config_errors_free(&errors);
		return;
	}
	gw_config_errors_free(&errors);
	if (gw_config_keep_leavers(config, gw_state_runtime(daemon->state), gw_clock_wall_ms()) <
		0) {
		api_error(reply, 500, "out of memory");
		gw_config_free(config);
		return;
	}
	ret = gw_daemon_build_trial(
		daemon, config, daemon->build->version + 1, true, &build, error);
	if (ret) {
		api_error(reply, 422, "the configuration cannot be built: %s", error);
	} else {
		reply->json = gw_plan_json(daemon->build, build);
		if (reply->json && gw_plan_notes(reply->json, daemon->config, config, build))
			api_error(reply, 500, "out of memory");
		gw_build_free(build);
	}
	gw_config_free(config);
}
