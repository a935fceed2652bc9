/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * HTTP with JSON on a Unix socket, in the event loop (libmicrohttpd with its epoll descriptor
 * polled by libuv). It knows sockets, limits and HTTP; what a path means is the handler's (api.c).
 */
#pragma once

#include <jansson.h>
#include <uv.h>

#include <stddef.h>
#include <sys/types.h>

#define GW_API_BODY_MAX	   (8u << 20) /* bytes of a request's body: a large configuration */
#define GW_API_CONNECTIONS 64
#define GW_API_IDLE_S	   10 /* a silent connection is closed */
#define GW_API_REQUEST_S   30 /* as is one whose request takes longer to arrive */

struct MHD_Connection;

/* Valid during the handler's call. */
struct gw_api_request {
	const char *method; /* "GET" or "POST" */
	const char *path;   /* decoded: "/v1/services/web" */
	const char *body;   /* body_length bytes and a NUL; "" when there is none */
	size_t body_length;
	uid_t uid; /* the caller's, from the kernel */
	pid_t pid;
	struct MHD_Connection *connection;
};

/* A query argument's value, "" for one without '=', NULL when absent. */
const char *gw_api_argument(const struct gw_api_request *request, const char *name);

/* The handler gives the body's reference away; NULL becomes an internal error. */
struct gw_api_reply {
	unsigned int status;
	json_t *body;
};

typedef void gw_api_handler(
	void *owner, const struct gw_api_request *request, struct gw_api_reply *reply);

struct gw_api_server;

/*
 * Listens on path (mode 0660). A socket that nobody listens on any more is replaced; -EADDRINUSE
 * when somebody does. The folder is made if only its last level is missing. Returns 0 or -errno.
 */
int gw_api_server_open(uv_loop_t *loop, const char *path, gw_api_handler *handler, void *owner,
	struct gw_api_server **out);

/* Closes every connection and removes the socket; NULL is fine. */
void gw_api_server_close(struct gw_api_server *server);
