/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the API's paths mean (docs/api.md, docs/openapi.json): api.c finds the route of a request
 * and judges what is the same for all (who asks, may they, is the body's size right, do query and
 * If-Match suit), then one file a subject answers. Every error is {"error": "..."} with a status:
 * 400 wrong use, 401 no valid token, 403 not allowed, 404 no such thing, 405 wrong method, 412 not
 * what If-Match names, 413 body too large, 422 configuration invalid, 503 no datapath.
 *
 * Every change is told in the log and in `events`: who, what, and the version it led to.
 */
#pragma once

#include "control/http_server.h"
#include "control/model_api.h"

struct gw_daemon;

/* Where a request came in. */
enum gw_door {
	GW_DOOR_CONTROL,   /* Unix socket: everything */
	GW_DOOR_READ_ONLY, /* Unix socket: looking only */
	GW_DOOR_TCP,	   /* a token says what */
	GW_DOOR_METRICS,   /* metrics.h */
	GW_DOORS
};

struct gw_api_entry {
	struct gw_daemon *daemon;
	enum gw_door door;
};

/* For struct gw_http_handler; the owner is a struct gw_api_entry. */
size_t gw_api_body_limit(void *owner, const struct gw_http_request *request);
void gw_api_answer(void *owner, const struct gw_http_request *request, struct gw_http_reply *reply);

struct api_call;

struct gw_api_route {
	const char *method;
	const char *path;	    /* "{name}" stands for one word */
	enum gw_config_scope scope; /* the least that may */
	bool changes;		    /* told as an event */
	const char *arguments;	    /* of the query, blanks between; NULL: none */
	size_t body_max;	    /* bytes; 0 with GET */
	/* The tag of what the route shows or changes; false when there is no such thing. */
	bool (*etag)(struct gw_daemon *daemon, const struct api_call *call,
		char etag[static GW_HTTP_ETAG]);
	void (*answer)(
		struct gw_daemon *daemon, const struct api_call *call, struct gw_http_reply *reply);
};

/* The table, for the test that holds docs/openapi.json against it. */
const struct gw_api_route *gw_api_routes(size_t *count);
