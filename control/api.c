/* SPDX-License-Identifier: BSD-2-Clause */
#include "control/api.h"

#include "api_routes.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATH_MAX_BYTES 512

struct route {
	const char *method;
	const char *path; /* '*' stands for one word */
	void (*answer)(
		struct gw_daemon *daemon, const struct api_call *call, struct gw_api_reply *reply);
};

static const struct route routes[] = {
	{"GET", "/v1/status", api_status},
	{"GET", "/v1/ready", api_ready},
	{"GET", "/v1/node", api_node},
	{"POST", "/v1/node", api_node_change},
	{"GET", "/v1/services", api_services},
	{"GET", "/v1/services/*", api_service},
	{"GET", "/v1/backends", api_backends},
	{"GET", "/v1/backends/*/*/explain", api_backend_explain},
	{"GET", "/v1/backends/*/*", api_backend},
	{"POST", "/v1/backends/*/*", api_backend_change},
	{"GET", "/v1/overrides", api_overrides},
	{"POST", "/v1/overrides/clear", api_overrides_clear},
	{"GET", "/v1/pools", api_tables},
	{"GET", "/v1/pools/*/table", api_table},
	{"GET", "/v1/drops", api_drops},
	{"GET", "/v1/flow", api_flow},
	{"GET", "/v1/flows", api_flows},
	{"GET", "/v1/lookup", api_lookup},
	{"GET", "/v1/events", api_events},
	{"GET", "/v1/config", api_config},
	{"POST", "/v1/config/reload", api_config_reload},
	{"POST", "/v1/config/plan", api_config_plan},
};

/* Matches word by word; the words at '*' are cut out of `path`, which is changed. */
static bool path_match(const char *pattern, char *path, struct api_call *call)
{
	char *rest = path + 1;
	size_t taken = 0;

	for (pattern++;; pattern++) {
		size_t length = strcspn(pattern, "/");
		char *word = strsep(&rest, "/");

		if (!word || !word[0])
			return false;
		if (*pattern == '*')
			call->words[taken++] = word;
		else if (strlen(word) != length || strncmp(pattern, word, length))
			return false;
		pattern += length;
		if (!*pattern)
			return !rest;
	}
}

void gw_api_handle(void *owner, const struct gw_api_request *request, struct gw_api_reply *reply)
{
	const char *allowed = NULL;

	if (request->path[0] != '/' || strlen(request->path) >= PATH_MAX_BYTES) {
		api_error(reply, 404, "no such path");
		return;
	}
	for (size_t i = 0; i < sizeof(routes) / sizeof(routes[0]); i++) {
		struct api_call call = {.request = request};
		char path[PATH_MAX_BYTES];

		strcpy(path, request->path);
		if (!path_match(routes[i].path, path, &call))
			continue;
		if (!strcmp(routes[i].method, request->method)) {
			routes[i].answer(owner, &call, reply);
			return;
		}
		allowed = routes[i].method;
	}
	if (allowed)
		api_error(
			reply, 405, "%s takes %s, not %s", request->path, allowed, request->method);
	else
		api_error(reply, 404, "no such path: %s", request->path);
}

void api_error(struct gw_api_reply *reply, unsigned int status, const char *format, ...)
{
	char text[512];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	reply->status = status;
	reply->body = json_pack("{s:o}", "error", api_text(text));
}

void api_errors(struct gw_api_reply *reply, unsigned int status, const char *text, json_t *errors)
{
	reply->status = status;
	reply->body = json_pack("{s:o, s:o}", "error", api_text(text), "errors", errors);
}

json_t *api_body(const struct api_call *call, struct gw_api_reply *reply)
{
	json_error_t error;
	json_t *body = json_loadb(
		call->request->body, call->request->body_length, JSON_REJECT_DUPLICATES, &error);

	if (json_is_object(body))
		return body;
	if (body)
		api_error(reply, 400, "the body must be a JSON object");
	else
		api_error(reply, 400, "the body is no JSON: line %d, column %d: %s", error.line,
			error.column, error.text);
	json_decref(body);
	return NULL;
}

bool api_flag(const struct api_call *call, const char *name)
{
	const char *value = gw_api_argument(call->request, name);

	return value && strcmp(value, "0") && strcmp(value, "false");
}

bool api_stats(struct gw_daemon *daemon, struct gw_publisher_stats *stats)
{
	*stats = (struct gw_publisher_stats){0};
	return daemon->publisher->ops->stats(daemon->publisher, stats) == 0;
}

json_t *api_time(int64_t wall_ms)
{
	char text[32];

	return wall_ms ? json_string(gw_time_format(wall_ms, text)) : json_null();
}

json_t *api_text(const char *text)
{
	json_t *string;
	char *clean;

	if (!text || !text[0])
		return json_null();
	string = json_string(text);
	if (string)
		return string;
	clean = strdup(text);
	for (char *c = clean; c && *c; c++)
		if ((unsigned char)*c >= 0x80)
			*c = '?';
	string = clean ? json_string(clean) : NULL;
	free(clean);
	return string;
}
