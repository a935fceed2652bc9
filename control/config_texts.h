/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The files of one configuration: read from the file system or, when a configuration is loaded
 * again as it was (gw_config_load_texts), taken from memory; and remembered in the model. Internal.
 */
#pragma once

#include "config_walk.h"

/*
 * The file's text, which lives as long as the model. Returns 0 or -errno as config_file_read does
 * (-ENOENT when the texts given do not have it).
 */
int config_text_get(struct config_walk *walk, const char *name, enum gw_config_text_kind kind,
	const char **text, size_t *len);

/* Remembers a text that was read already. Returns 0 or -ENOMEM. */
int config_text_keep(struct config_walk *walk, const char *name, enum gw_config_text_kind kind,
	const char *text, size_t len);

/* A path that the file being walked names, relative to that file's folder; NULL without memory. */
char *config_path_resolve(struct config_walk *walk, const char *path);

/* May the configuration name other files? False after an error at the node. */
bool config_files_allowed(struct config_walk *walk, yaml_node_t *node);

/* The resolved path that the node names; NULL after an error, or without memory (walk->status). */
char *config_path_read(struct config_walk *walk, yaml_node_t *node);
