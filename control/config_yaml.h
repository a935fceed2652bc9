/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One YAML file as a tree of nodes. Before the tree is built the event stream is read once and its
 * bounds are checked, because the document loader has none: what it builds is then small, not
 * cyclic, and free of tags.
 */
#pragma once

#include "config_errors.h"

#include <yaml.h>

#include <stdbool.h>
#include <stddef.h>

#define CONFIG_BYTES_MAX   ((size_t)8 * 1024 * 1024) /* a file */
#define CONFIG_NODES_MAX   1000000u
#define CONFIG_DEPTH_MAX   16u
#define CONFIG_ALIASES_MAX 1000u

struct config_source {
	const char *name; /* as messages name it; lives as long as the model */
	yaml_document_t document;
	bool list;	   /* its root may be a list */
	yaml_node_t *root; /* a mapping; NULL: not read, or no configuration */
	bool loaded;
};

/*
 * Reads a regular file whole. Returns 0 and *text is the caller's to free, or -errno (-EFBIG over
 * CONFIG_BYTES_MAX, -ENOTSUP not a regular file).
 */
int config_file_read(const char *path, char **text, size_t *len);

/* What a failure of config_file_read says to a person. */
const char *config_file_error(int error);

/*
 * Fills source->document and root; name is set before. Returns 0, -EINVAL with the errors added, or
 * -ENOMEM. config_source_free in any case.
 */
int config_source_parse(struct config_source *source, const char *text, size_t len,
	struct gw_config_errors *errors);

void config_source_free(struct config_source *source);

/* A mark of libyaml, counted from 1. */
struct gw_place config_mark_place(const struct config_source *source, const yaml_mark_t *mark);
