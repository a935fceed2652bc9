/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What only the whole configuration shows: names that must differ or exist, addresses that must
 * suit each other, services that would answer for the same packets. Works on the model alone, so a
 * part that was not readable is left out instead of reported twice.
 */
#pragma once

#include "config_walk.h"

/* Everything below; also fills what follows from several keys (ids, member keys, indices, ports).
 */
void config_check(struct config_walk *walk);

/* config_names.c: by_name indices; duplicate names, keys and addresses; pools of services. */
void config_names_check(struct config_walk *walk);

/* config_pools.c: backends' addresses against the node's, table sizes, weights, health checks. */
void config_pools_check(struct config_walk *walk);

/* config_services.c: overlaps of equal rank, no_service, service addresses against the others. */
void config_services_check(struct config_walk *walk);

/* An error at a place of the model. */
void config_bad_at(struct config_walk *walk, const struct gw_place *place, const char *path,
	const char *format, ...) __attribute__((format(printf, 4, 5)));

/* "pools[web]KEY" and the like, with the index where there is no name; return path. */
char *config_pool_path(const struct config_walk *walk, const struct gw_config_pool *pool,
	const char *key, char path[static CONFIG_PATH_MAX]);
char *config_backend_path(const struct config_walk *walk, const struct gw_config_pool *pool,
	const struct gw_config_backend *backend, const char *key,
	char path[static CONFIG_PATH_MAX]);
char *config_service_path(const struct config_walk *walk, const struct gw_config_service *service,
	const char *key, char path[static CONFIG_PATH_MAX]);

/* "line 7", with the file when it is not the one of `from`; returns text. */
#define CONFIG_PLACE_TEXT 300
char *config_place_text(const struct gw_place *place, const struct gw_place *from,
	char text[static CONFIG_PLACE_TEXT]);
