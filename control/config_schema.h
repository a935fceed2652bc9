/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The keys of the configuration: what contract.md calls the YAML, as tables.
 */
#pragma once

#include "config_walk.h"

/* The whole file; fills a struct gw_config. */
extern const struct config_section config_root;

/* The values that hold where the file says nothing. */
void config_defaults_set(struct gw_config *config);

/*
 * Calls once for each key that may be used, with its full name: "pools[].backends[].weight". Keys
 * that are refused are left out.
 */
void config_schema_each(void (*visit)(void *owner, const char *name), void *owner);
