/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Probes by libcurl's multi interface, driven by the event loop: http, https and grpc. A kind makes
 * the request and judges the answer; the rest is here.
 */
#pragma once

#include "check_deadline.h"
#include "control/check.h"

#include <curl/curl.h>

struct gw_check_curl;

/* struct gw_checker's part. Returns 0 or -errno. */
int gw_check_curl_new(uv_loop_t *loop, struct gw_check_curl **out);
void gw_check_curl_free(struct gw_check_curl *curl); /* NULL is fine */

struct gw_check_curl *gw_checker_curl(struct gw_checker *checker);

/* The answer decides; of a longer body than this the rest is not waited for. */
#define CHECK_BODY_MAX 65536

struct check_curl {
	struct gw_probe probe;
	struct check_deadline deadline; /* the memory lives until its timer is closed */
	bool begun;
	struct gw_check_curl *curl;
	CURL *easy;
	struct curl_slist *headers;
	struct curl_slist *connect_to;
	struct gw_check_target target;
	gw_check_done *done;
	void *owner;
	uint8_t *body; /* what of it is kept */
	size_t body_length;
	size_t body_size; /* all of it */
	/* The answer is complete (or CHECK_BODY_MAX of it); fills *outcome. */
	void (*judge)(struct check_curl *probe, struct gw_check_outcome *outcome);
	int grpc_status; /* check_grpc.c; -1: none came */
	char error[CURL_ERROR_SIZE];
};

/*
 * Allocates a probe with an easy handle that has what every kind needs set; add what is the kind's
 * own, then check_curl_begin. NULL without memory.
 */
struct check_curl *check_curl_make(struct gw_checker *checker, const struct gw_check_target *target,
	const struct gw_check_ops *ops, gw_check_done *done, void *owner);

/* Adds a request header; -ENOMEM. */
int check_curl_header(struct check_curl *probe, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * SCHEME://ADDRESS:PORTpath, or with a name (not resolved: the connection goes to the address all
 * the same) SCHEME://NAME:PORTpath. Returns 0 or -ENOMEM.
 */
int check_curl_url(
	struct check_curl *probe, const char *scheme, const char *name, const char *path);

/* Starts it. On failure the probe is freed. */
int check_curl_begin(struct check_curl *probe, struct gw_probe **out);

/* Also frees a probe that was not begun. */
void check_curl_cancel(struct gw_probe *probe);
