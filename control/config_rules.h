/* SPDX-License-Identifier: BSD-2-Clause */
/* A pool's rules for backends that come and go, and the program that is told of it. */
#pragma once

#include "config_walk.h"

extern const struct config_section config_damping;
extern const struct config_section config_slow_start;
extern const struct config_section config_enter_limit;
extern const struct config_section config_hooks;
extern const struct config_section config_probe_mark;

/* A section, or "off": zeroes. A section given in part has the defaults for the rest. */
CONFIG_READER(config_read_off_rules);

/* What holds where the file says nothing. */
void config_rules_defaults(struct gw_config_pool *pool);

/* Keys of these rules that need each other. */
void config_rules_check(struct config_walk *walk, const struct gw_config_pool *pool);
