/* SPDX-License-Identifier: BSD-2-Clause */
/* Between api.c and the files that answer. */
#pragma once

#include "control/api.h"
#include "control/daemon.h"

#include <stdbool.h>

#define API_WORDS_MAX 2
#define API_SHOWN     80 /* of a bad value, in an error */

struct api_caller {
	enum gw_config_scope scope;
	/* Dies when the configuration is exchanged: not to be used behind a reload. */
	const struct gw_config_token *token;
	char name[GW_RUNTIME_WHO]; /* "root", "uid 1234", "token deploy" */
	char origin[80];	   /* "uid 0", "192.0.2.1:40000" */
};

/* The words of the path that stand where the route has a "{name}". */
struct api_call {
	const struct gw_http_request *request;
	struct api_caller caller;
	char *words[API_WORDS_MAX];
};

/* api_access.c. False: no valid token. */
bool api_caller_find(struct gw_daemon *daemon, enum gw_door door,
	const struct gw_http_request *request, struct api_caller *caller);
/* False after an error was answered. */
bool api_caller_may(const struct gw_daemon *daemon, const struct api_call *call,
	const struct gw_api_route *route, enum gw_door door, struct gw_http_reply *reply);

/* api_audit.c: a change was asked for and answered. */
void api_audit(
	struct gw_daemon *daemon, const struct api_call *call, const struct gw_http_reply *reply);

/* api_etag.c: struct gw_api_route's etag. */
bool api_etag_backend(
	struct gw_daemon *daemon, const struct api_call *call, char etag[static GW_HTTP_ETAG]);
bool api_etag_overrides(
	struct gw_daemon *daemon, const struct api_call *call, char etag[static GW_HTTP_ETAG]);
bool api_etag_config(
	struct gw_daemon *daemon, const struct api_call *call, char etag[static GW_HTTP_ETAG]);
bool api_etag_node(
	struct gw_daemon *daemon, const struct api_call *call, char etag[static GW_HTTP_ETAG]);

enum api_match {
	API_MATCH,
	API_MATCH_NONE,
	API_MATCH_MALFORMED,
};
/* What an If-Match header says about the tag. */
enum api_match api_etag_match(const char *header, const char *etag);

void api_error(struct gw_http_reply *reply, unsigned int status, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* {"error", "errors"}; consumes the array of lines. */
void api_errors(struct gw_http_reply *reply, unsigned int status, const char *text, json_t *errors);

enum api_type {
	API_TEXT,    /* at most max bytes, without control characters */
	API_INTEGER, /* min to max */
	API_BOOLEAN,
};

struct api_field {
	const char *name;
	enum api_type type;
	long long min, max;
	const char *missing; /* required: what to say when it is not there */
};

/*
 * The body, a JSON object with these fields and no others (none at all is {}); the caller owns the
 * reference. NULL after an error was answered.
 */
json_t *api_body(const struct api_call *call, const struct api_field *fields, size_t count,
	struct gw_http_reply *reply);

/* "?name", "?name=1" are true; absent, "0" and "false" are not. */
bool api_flag(const struct api_call *call, const char *name);

/* Fresh statistics; false (and *stats zero) when there is no datapath. */
bool api_stats(struct gw_daemon *daemon, struct gw_publisher_stats *stats);

/* One tracked flow. */
json_t *api_flow_json(const struct gw_build *build, const struct gw_flow_key *key,
	const struct gw_flow_answer *answer);

/* A JSON string of the time, or null for 0. */
json_t *api_time(int64_t wall_ms);

/* A text as it came from outside: null when NULL or empty, invalid UTF-8 as '?'. */
json_t *api_text(const char *text);

/* One element of `backend list`. */
json_t *api_backend_json(struct gw_daemon *daemon, const struct gw_build_pool *pool,
	const struct gw_build_backend *backend, const struct gw_publisher_stats *stats);

/* The backend that the path names; NULL after an error was answered. */
const struct gw_build_backend *api_backend_find(struct gw_daemon *daemon,
	const struct api_call *call, const struct gw_build_pool **pool,
	struct gw_http_reply *reply);

bool api_override_given(const struct gw_runtime_backend *known);
json_t *api_override_json(const struct gw_override *override);

/* The routes. */
#define API_ANSWER(name)                                                                           \
	void name(struct gw_daemon *daemon, const struct api_call *call,                           \
		struct gw_http_reply *reply)

API_ANSWER(api_status);
API_ANSWER(api_ready);
API_ANSWER(api_node);
API_ANSWER(api_node_change);
API_ANSWER(api_services);
API_ANSWER(api_service);
API_ANSWER(api_backends);
API_ANSWER(api_backend);
API_ANSWER(api_backend_change);
API_ANSWER(api_backend_explain);
API_ANSWER(api_overrides);
API_ANSWER(api_overrides_clear);
API_ANSWER(api_tables);
API_ANSWER(api_table);
API_ANSWER(api_drops);
API_ANSWER(api_flow);
API_ANSWER(api_flow_list);
API_ANSWER(api_flows);
API_ANSWER(api_workers);
API_ANSWER(api_lookup);
API_ANSWER(api_events);
API_ANSWER(api_config);
API_ANSWER(api_config_reload);
API_ANSWER(api_config_plan);
API_ANSWER(api_config_rollback);
API_ANSWER(api_config_confirm);
API_ANSWER(api_config_diff);
API_ANSWER(api_history);
API_ANSWER(api_history_diff);
