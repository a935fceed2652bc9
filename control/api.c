/* SPDX-License-Identifier: BSD-2-Clause */
#include "control/api.h"

#include "api_routes.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATH_BYTES  512
#define SMALL_BODY  65536u
#define CONFIG_BODY (8u << 20) /* a large configuration */

#define VIEW(path, arguments, etag, answer)                                                        \
	{                                                                                          \
		"GET", path, GW_CONFIG_SCOPE_VIEW, false, arguments, 0, etag, answer               \
	}
#define CHANGE(path, scope, etag, answer)                                                          \
	{                                                                                          \
		"POST", path, GW_CONFIG_SCOPE_##scope, true, NULL, SMALL_BODY, etag, answer        \
	}

static const struct gw_api_route routes[] = {
	VIEW("/v1/status", NULL, NULL, api_status),
	VIEW("/v1/ready", NULL, NULL, api_ready),
	VIEW("/v1/node", NULL, api_etag_node, api_node),
	CHANGE("/v1/node", ADMIN, api_etag_node, api_node_change),
	VIEW("/v1/services", NULL, NULL, api_services),
	VIEW("/v1/services/{service}", NULL, NULL, api_service),
	VIEW("/v1/backends", "pool", NULL, api_backends),
	VIEW("/v1/backends/{pool}/{backend}/explain", NULL, NULL, api_backend_explain),
	VIEW("/v1/backends/{pool}/{backend}", NULL, api_etag_backend, api_backend),
	CHANGE("/v1/backends/{pool}/{backend}", DRAIN, api_etag_backend, api_backend_change),
	VIEW("/v1/overrides", NULL, api_etag_overrides, api_overrides),
	CHANGE("/v1/overrides/clear", ADMIN, api_etag_overrides, api_overrides_clear),
	VIEW("/v1/pools", NULL, NULL, api_tables),
	VIEW("/v1/pools/{pool}/table", "full", NULL, api_table),
	VIEW("/v1/drops", NULL, NULL, api_drops),
	VIEW("/v1/workers", NULL, NULL, api_workers),
	VIEW("/v1/flow", "tuple", NULL, api_flow),
	VIEW("/v1/flows", NULL, NULL, api_flows),
	VIEW("/v1/flows/list", "limit pool backend", NULL, api_flow_list),
	VIEW("/v1/lookup", "flow table", NULL, api_lookup),
	VIEW("/v1/events", "since", NULL, api_events),
	VIEW("/v1/config", NULL, api_etag_config, api_config),
	CHANGE("/v1/config/reload", ADMIN, api_etag_config, api_config_reload),
	CHANGE("/v1/config/rollback", ADMIN, api_etag_config, api_config_rollback),
	CHANGE("/v1/config/confirm", ADMIN, api_etag_config, api_config_confirm),
	VIEW("/v1/config/diff", NULL, NULL, api_config_diff),
	VIEW("/v1/history", NULL, NULL, api_history),
	VIEW("/v1/history/diff", "from to", NULL, api_history_diff),
	{"POST", "/v1/config/plan", GW_CONFIG_SCOPE_VIEW, false, NULL, CONFIG_BODY, api_etag_config,
		api_config_plan},
};

const struct gw_api_route *gw_api_routes(size_t *count)
{
	*count = sizeof(routes) / sizeof(routes[0]);
	return routes;
}

/* Matches word by word; the words at "{name}" are cut out of `path`, which is changed. */
static bool path_match(const char *pattern, char *path, struct api_call *call)
{
	char *rest = path + 1;
	size_t taken = 0;

	for (pattern++;; pattern++) {
		size_t length = strcspn(pattern, "/");
		char *word = strsep(&rest, "/");

		if (!word || !word[0])
			return false;
		if (*pattern == '{')
			call->words[taken++] = word;
		else if (strlen(word) != length || strncmp(pattern, word, length) != 0)
			return false;
		pattern += length;
		if (!*pattern)
			return !rest;
	}
}

/* libmicrohttpd leaves the body of an answer to HEAD out. */
static bool method_is(const struct gw_api_route *route, const char *method)
{
	return !strcmp(route->method, method) ||
	       (!strcmp(route->method, "GET") && !strcmp(method, "HEAD"));
}

/*
 * The route of the request, with the words of the path, which is copied to `path`. NULL: none, and
 * *allow is what there is for this path, NULL for no such path.
 */
static const struct gw_api_route *route_find(const struct gw_http_request *request,
	char path[static PATH_BYTES], struct api_call *call, const char **allow)
{
	bool get = false, post = false;

	*allow = NULL;
	if (request->path[0] != '/' || strlen(request->path) >= PATH_BYTES)
		return NULL;
	for (size_t i = 0; i < sizeof(routes) / sizeof(routes[0]); i++) {
		strcpy(path, request->path);
		if (!path_match(routes[i].path, path, call))
			continue;
		if (method_is(&routes[i], request->method))
			return &routes[i];
		*(strcmp(routes[i].method, "GET") ? &post : &get) = true;
	}
	if (get || post)
		*allow = get && post ? "GET, HEAD, POST" : get ? "GET, HEAD" : "POST";
	return NULL;
}

size_t gw_api_body_limit(void *owner, const struct gw_http_request *request)
{
	const struct gw_api_route *route;
	struct api_call call = {0};
	char path[PATH_BYTES];
	const char *allow;

	route = route_find(request, path, &call, &allow);
	return route ? route->body_max : 0;
}

struct argument_search {
	const char *known;
	char unknown[64]; /* "": none */
};

static bool argument_known(void *owner, const char *name)
{
	struct argument_search *search = owner;
	const char *at = search->known ? search->known : "";
	size_t length = strlen(name);

	for (; *at; at += strcspn(at, " "), at += strspn(at, " "))
		if (strcspn(at, " ") == length && !strncmp(at, name, length))
			return true;
	snprintf(search->unknown, sizeof(search->unknown), "%s", name[0] ? name : "(empty)");
	return false;
}

static bool arguments_check(
	const struct gw_api_route *route, const struct api_call *call, struct gw_http_reply *reply)
{
	struct argument_search search = {.known = route->arguments};

	gw_http_arguments(call->request, argument_known, &search);
	if (!search.unknown[0])
		return true;
	api_error(reply, 400, "no query argument \"%s\" here; there are: %s", search.unknown,
		route->arguments ? route->arguments : "none");
	return false;
}

static bool precondition_check(struct gw_daemon *daemon, const struct gw_api_route *route,
	const struct api_call *call, struct gw_http_reply *reply)
{
	const char *header = gw_http_header(call->request, "If-Match");
	char etag[GW_HTTP_ETAG];

	if (!header || !strcmp(route->method, "GET"))
		return true;
	if (!route->etag(daemon, call, etag))
		return true; /* no such thing: the handler says so */
	switch (api_etag_match(header, etag)) {
	case API_MATCH:
		return true;
	case API_MATCH_MALFORMED:
		api_error(reply, 400, "If-Match is no list of quoted tags: %.80s", header);
		return false;
	default:
		api_error(reply, 412,
			"it has been changed since: its tag is %s now; look again, then decide",
			etag);
		memcpy(reply->etag, etag, sizeof(etag));
		return false;
	}
}

/* What is the same for all routes; false after an error was answered. */
static bool call_check(struct gw_api_entry *entry, const struct gw_api_route *route,
	const struct api_call *call, struct gw_http_reply *reply)
{
	if (!api_caller_may(entry->daemon, call, route, entry->door, reply))
		return false;
	if (call->request->oversized) {
		api_error(reply, 413, "%s %s takes at most %zu bytes", route->method, route->path,
			route->body_max);
		return false;
	}
	return arguments_check(route, call, reply) &&
	       precondition_check(entry->daemon, route, call, reply);
}

void gw_api_answer(void *owner, const struct gw_http_request *request, struct gw_http_reply *reply)
{
	struct gw_api_entry *entry = owner;
	struct api_call call = {.request = request};
	const struct gw_api_route *route;
	char path[PATH_BYTES];
	const char *allow;

	entry->daemon->api.requests++;
	if (entry->daemon->stopping) {
		api_error(reply, 503, "guideway-control is about to end");
		return;
	}
	if (!api_caller_find(entry->daemon, entry->door, request, &call.caller)) {
		api_error(reply, 401, "a valid token is needed: Authorization: Bearer TOKEN");
		reply->challenge = true;
		return;
	}
	route = route_find(request, path, &call, &allow);
	if (!route) {
		api_error(reply, allow ? 405 : 404,
			allow ? "%.200s takes %s, not %.20s" : "no such path: %.200s",
			request->path, allow, request->method);
		reply->allow = allow;
		return;
	}
	if (call_check(entry, route, &call, reply)) {
		route->answer(entry->daemon, &call, reply);
		if (reply->status == 200 && route->etag)
			route->etag(entry->daemon, &call, reply->etag);
	}
	if (route->changes)
		api_audit(entry->daemon, &call, reply);
}

void api_error(struct gw_http_reply *reply, unsigned int status, const char *format, ...)
{
	char text[512];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	reply->status = status;
	reply->json = json_pack("{s:o}", "error", api_text(text));
}

void api_errors(struct gw_http_reply *reply, unsigned int status, const char *text, json_t *errors)
{
	reply->status = status;
	reply->json = json_pack("{s:o, s:o}", "error", api_text(text), "errors", errors);
}

bool api_flag(const struct api_call *call, const char *name)
{
	const char *value = gw_http_argument(call->request, name);

	return value && strcmp(value, "0") != 0 && strcmp(value, "false") != 0;
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
