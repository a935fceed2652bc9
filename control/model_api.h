/* SPDX-License-Identifier: BSD-2-Clause */
/* The part of the configuration that says who may talk to the daemon, and where. */
#pragma once

#include "model_place.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct gw_config_listen {
	const char *text; /* "127.0.0.1:9391" as written; NULL: off */
	uint8_t address[16];
	uint16_t port;
};

/* A Unix socket; its permissions say who may connect. */
struct gw_config_socket {
	const char *path;  /* NULL: off */
	const char *group; /* NULL: the daemon's own */
	uint16_t mode;
};

/* What a token is good for; each includes what is above it. */
enum gw_config_scope {
	GW_CONFIG_SCOPE_VIEW,
	GW_CONFIG_SCOPE_DRAIN, /* and drain and enable backends of the pools named */
	GW_CONFIG_SCOPE_ADMIN,
};

#define GW_TOKEN_DIGEST	   32 /* SHA-256 */
#define GW_TOKEN_BYTES_MIN 24u
#define GW_TOKEN_BYTES_MAX 512u

/* The token itself is in its file and nowhere else. */
struct gw_config_token {
	const char *name;
	const char *file;
	enum gw_config_scope scope;
	const char **pools; /* scope drain: their names */
	size_t pool_count;
	bool present; /* the file was read, which only the daemon does */
	uint8_t digest[GW_TOKEN_DIGEST];
	struct gw_place place;
};

struct gw_config_tcp {
	struct gw_config_listen listen;
	const char *certificate; /* PEM files; NULL: without TLS, on loopback only */
	const char *key;
	struct gw_config_token *tokens;
	size_t token_count;
};

struct gw_config_api {
	struct gw_config_socket control;   /* who may connect may change everything */
	struct gw_config_socket read_only; /* who may connect may look at everything */
	struct gw_config_tcp tcp;
};

/* "view", "drain", "admin" */
const char *gw_config_scope_name(enum gw_config_scope scope);

/* 127.0.0.0/8 or ::1: nobody outside this machine gets there. */
bool gw_config_listen_local(const struct gw_config_listen *listen);
