/* SPDX-License-Identifier: BSD-2-Clause */
/* The sections api and metrics of the file. */
#pragma once

#include "config_walk.h"

#include <jansson.h>

extern const struct config_section config_api_section;	   /* of struct gw_config_api */
extern const struct config_section config_metrics_section; /* of struct gw_config_listen */

/* What only the whole file shows: pools that a token names. */
void config_api_check(struct config_walk *walk);

/* config_tokens.c: reads the token's file, when the daemon is what the configuration is read for.
 */
void config_token_read(struct config_walk *walk, yaml_node_t *at, struct gw_config_token *token);
/* No name and no secret twice. */
void config_tokens_differ(struct config_walk *walk, const struct gw_config_tcp *tcp);

json_t *config_api_dump(const struct gw_config_api *api);
