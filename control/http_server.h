/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * HTTP/1.1 in the event loop: libmicrohttpd with its epoll descriptor polled by libuv. It knows
 * sockets, TLS and limits; what a path means is the handler's (api.c, metrics.c).
 *
 * Every listener is a server of its own, with its own connections, so a crowd at one does not keep
 * people from another. Nothing a peer sends or leaves out can hold a connection for longer than the
 * limits below: silence is one, slowness the other (a byte a second of headers, body or answer).
 *
 * Event loop's thread only.
 */
#pragma once

#include "control/http_tls.h"

#include <jansson.h>
#include <uv.h>

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define GW_HTTP_IDLE_S	     10	   /* a silent connection is closed */
#define GW_HTTP_REQUEST_S    30	   /* as is one whose request and answer take longer */
#define GW_HTTP_HEADER_BYTES 32768 /* of a request's line and headers, about */
#define GW_HTTP_ETAG	     40

struct MHD_Connection;

struct gw_http_peer {
	bool local; /* through a Unix socket: uid and pid are the kernel's word */
	uid_t uid;  /* (uid_t)-1: not told */
	pid_t pid;
	char address[64]; /* TCP: "192.0.2.1:40000", "[2001:db8::1]:40000" */
};

/* Valid during the handler's call. */
struct gw_http_request {
	const char *method; /* "GET", "POST", ... */
	const char *path;   /* decoded: "/v1/services/web" */
	const char *body;   /* body_length bytes and a NUL; "" when there is none */
	size_t body_length;
	bool oversized; /* the body was larger than body_limit said and is not here: answer 413 */
	struct gw_http_peer peer;
	struct MHD_Connection *connection;
};

/* A query argument's value, "" for one without '=', NULL when absent. */
const char *gw_http_argument(const struct gw_http_request *request, const char *name);
/* Calls `visit` with each query argument until it returns false. */
void gw_http_arguments(const struct gw_http_request *request,
	bool (*visit)(void *owner, const char *name), void *owner);
/* A header's value, NULL when absent. */
const char *gw_http_header(const struct gw_http_request *request, const char *name);

/* Either json or text is the answer's body; both are given away. Neither: an internal error. */
struct gw_http_reply {
	unsigned int status;
	json_t *json;
	char *text; /* from malloc */
	size_t text_length;
	const char *text_type;	 /* Content-Type of text */
	const char *allow;	 /* 405: the methods there are */
	bool challenge;		 /* 401: ask for a token */
	char etag[GW_HTTP_ETAG]; /* "": none; with its quotes */
};

struct gw_http_handler {
	void *owner;
	/* The largest body this request may have; its headers are there, its body is not. */
	size_t (*body_limit)(void *owner, const struct gw_http_request *request);
	void (*answer)(
		void *owner, const struct gw_http_request *request, struct gw_http_reply *reply);
};

struct gw_http_options {
	int listener;		       /* given away, from http_listen.h; -1: only adopts */
	const char *unix_path;	       /* removed when the server closes; NULL: TCP */
	const struct gw_http_tls *tls; /* used during the call only; NULL: plain */
	unsigned int connections;
	unsigned int connections_each; /* from one address; 0: any number */
};

struct gw_http_server;

/* Returns 0 or -errno, and then the listener is closed. */
int gw_http_server_open(uv_loop_t *loop, const struct gw_http_options *options,
	const struct gw_http_handler *handler, struct gw_http_server **out);

/* Closes every connection; removes the socket. Not from a handler. NULL is fine. */
void gw_http_server_close(struct gw_http_server *server);

/*
 * Takes no more connections; those that there are have a moment to finish, then it closes. From
 * anywhere, a handler included. The listener is given back (and *unix_path not removed) when
 * `listener` is not NULL, otherwise closed.
 */
void gw_http_server_retire(struct gw_http_server *server, int *listener);

/* Serves one more connected socket, which is given away. Returns 0 or -errno. */
int gw_http_server_adopt(struct gw_http_server *server, int fd);
