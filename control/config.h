/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reading the configuration file: YAML in, a struct gw_config (model.h) or a list of every error
 * out.
 *
 * A file is taken whole or not at all: on any error no model comes out, so whatever runs goes on
 * with what it has. The library keeps no state, logs nothing and may be used from any thread.
 */
#pragma once

#include "model.h"

#include <jansson.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Demand also what only running needs: an interface for path xdp, a port for every check. */
#define GW_CONFIG_DAEMON 0x1u
/* Open no other file (include, hash_seed_file are errors): for text from an untrusted place. */
#define GW_CONFIG_NO_FILES 0x2u
/* Pools and services whose health is kept by address come in parts: config_expand.h. */
#define GW_CONFIG_PARTS 0x4u

#define GW_CONFIG_ERRORS_MAX 200u /* more are only counted */

struct gw_config_error {
	struct gw_place place; /* line 0: the whole file (it cannot be read) */
	const char *path;      /* "pools[web].backends[b1].weight"; empty for a YAML syntax error */
	const char *message;
};

/* Initialise with {0}; sorted by file, line and column when gw_config_load returns. */
struct gw_config_errors {
	struct gw_config_error *list;
	size_t count;	/* entries of list */
	size_t omitted; /* found beyond GW_CONFIG_ERRORS_MAX */
	size_t members; /* of count: those that members files alone are to blame for */
	struct gw_arena *arena;
};

/*
 * Reads path and what it includes. flags: GW_CONFIG_DAEMON, GW_CONFIG_NO_FILES, GW_CONFIG_PARTS or
 * 0. Returns 0 and the caller owns *out (gw_config_free); -EINVAL when the file is invalid or
 * cannot be read, with at least one entry in errors; -ENOMEM. On failure *out is untouched. errors
 * is always to be freed with gw_config_errors_free.
 */
int gw_config_load(const char *path, unsigned int flags, struct gw_config **out,
	struct gw_config_errors *errors);

/*
 * The same with the files as they were: only what `texts` holds (struct gw_config.texts, the main
 * file first) exists, but for files with secrets, which are read as they are now.
 */
int gw_config_load_texts(const struct gw_config_text *texts, size_t count, unsigned int flags,
	struct gw_config **out, struct gw_config_errors *errors);

/* The same from memory; name stands for the file in messages and is what include is relative to. */
int gw_config_load_string(const char *name, const char *text, size_t len, unsigned int flags,
	struct gw_config **out, struct gw_config_errors *errors);

void gw_config_errors_free(struct gw_config_errors *errors);

/* "file:line:column: path: message" without a newline, as snprintf writes and counts. */
int gw_config_error_format(const struct gw_config_error *error, char *text, size_t size);

/* One line an error, and one more for those omitted. */
void gw_config_errors_print(const struct gw_config_errors *errors, FILE *stream);

/* [{"file","line","column","path","message"}]; NULL without memory. The caller owns the reference.
 */
json_t *gw_config_errors_json(const struct gw_config_errors *errors);

/*
 * What `guideway-control -t` and `guideway config check` do: loads the file for the daemon, writes
 * one line of summary to out or the errors to err (with json, an object {"valid","file","errors",…}
 * to out instead) and returns the exit status, 0 or 5 (1 without memory).
 */
int gw_config_check_report(const char *path, bool json, FILE *out, FILE *err);

/* The whole model, defaults filled in, with the file's own keys. A secret seed is left out. */
json_t *gw_config_dump(const struct gw_config *config);

/* What form a file must have, as a JSON Schema, for editors and validators. The caller's. */
json_t *gw_config_json_schema(void);
