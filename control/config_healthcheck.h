/* SPDX-License-Identifier: BSD-2-Clause */
/* The section `healthcheck`, of the defaults and of each pool. */
#pragma once

#include "config_walk.h"

extern const struct config_section config_healthcheck;

/* What holds where the file says nothing. */
void config_healthcheck_defaults(struct gw_config_check *check);

/*
 * Completes a pool's check, whose defaults may be of another type, and reports what only the whole
 * configuration shows: timeouts against intervals, a port that nobody names.
 */
void config_healthcheck_check(struct config_walk *walk, struct gw_config_pool *pool);
