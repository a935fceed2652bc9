/* SPDX-License-Identifier: BSD-2-Clause */
/* Between api.c and the files that answer. */
#pragma once

#include "control/api.h"

#include <stdbool.h>

#define API_WORDS_MAX 2

/* The words of the path that stand where the route has a '*'. */
struct api_call {
	const struct gw_api_request *request;
	char *words[API_WORDS_MAX];
};

void api_error(struct gw_api_reply *reply, unsigned int status, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* {"error", "errors"}; consumes the array of lines. */
void api_errors(struct gw_api_reply *reply, unsigned int status, const char *text, json_t *errors);

/* The body as a JSON object; NULL after an error was answered. */
json_t *api_body(const struct api_call *call, struct gw_api_reply *reply);

/* "?name", "?name=1" are true; absent, "0" and "false" are not. */
bool api_flag(const struct api_call *call, const char *name);

/* Fresh statistics; false (and *stats zero) when there is no datapath. */
bool api_stats(struct gw_daemon *daemon, struct gw_publisher_stats *stats);

/* Who asks: "root", or "uid 1234" where the user has no name. */
void api_caller_name(const struct api_call *call, char *text, size_t size);

/* A JSON string of the time, or null for 0. */
json_t *api_time(int64_t wall_ms);

/* A text as it came from outside: null when NULL or empty, invalid UTF-8 as '?'. */
json_t *api_text(const char *text);

/* The backend that the call's two words name; NULL after a 404 was answered. */
const struct gw_build_backend *api_backend_find(struct gw_daemon *daemon,
	const struct api_call *call, const struct gw_build_pool **pool, struct gw_api_reply *reply);

/* One element of `backend list`. */
json_t *api_backend_json(struct gw_daemon *daemon, const struct gw_build_pool *pool,
	const struct gw_build_backend *backend, const struct gw_publisher_stats *stats);

void api_status(struct gw_daemon *daemon, const struct api_call *call, struct gw_api_reply *reply);
void api_services(
	struct gw_daemon *daemon, const struct api_call *call, struct gw_api_reply *reply);
void api_service(struct gw_daemon *daemon, const struct api_call *call, struct gw_api_reply *reply);
void api_backends(
	struct gw_daemon *daemon, const struct api_call *call, struct gw_api_reply *reply);
void api_backend(struct gw_daemon *daemon, const struct api_call *call, struct gw_api_reply *reply);
void api_backend_change(
	struct gw_daemon *daemon, const struct api_call *call, struct gw_api_reply *reply);
void api_backend_explain(
	struct gw_daemon *daemon, const struct api_call *call, struct gw_api_reply *reply);
void api_overrides(
	struct gw_daemon *daemon, const struct api_call *call, struct gw_api_reply *reply);
void api_overrides_clear(
	struct gw_daemon *daemon, const struct api_call *call, struct gw_api_reply *reply);
void api_tables(struct gw_daemon *daemon, const struct api_call *call, struct gw_api_reply *reply);
void api_table(struct gw_daemon *daemon, const struct api_call *call, struct gw_api_reply *reply);
void api_drops(struct gw_daemon *daemon, const struct api_call *call, struct gw_api_reply *reply);
void api_flow(struct gw_daemon *daemon, const struct api_call *call, struct gw_api_reply *reply);
void api_flows(struct gw_daemon *daemon, const struct api_call *call, struct gw_api_reply *reply);
void api_lookup(struct gw_daemon *daemon, const struct api_call *call, struct gw_api_reply *reply);
void api_node(struct gw_daemon *daemon, const struct api_call *call, struct gw_api_reply *reply);
void api_node_change(
	struct gw_daemon *daemon, const struct api_call *call, struct gw_api_reply *reply);
void api_ready(struct gw_daemon *daemon, const struct api_call *call, struct gw_api_reply *reply);
void api_events(struct gw_daemon *daemon, const struct api_call *call, struct gw_api_reply *reply);
void api_config(struct gw_daemon *daemon, const struct api_call *call, struct gw_api_reply *reply);
void api_config_reload(
	struct gw_daemon *daemon, const struct api_call *call, struct gw_api_reply *reply);
void api_config_plan(
	struct gw_daemon *daemon, const struct api_call *call, struct gw_api_reply *reply);
