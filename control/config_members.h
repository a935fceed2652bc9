/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A pool's members_file: its backends in a file of their own, which some other program replaces as
 * machines come and go. It holds what would stand below `backends`, with that key or without.
 */
#pragma once

#include "config_walk.h"

/* What the file holds: one key of a pool, `backends`. Of struct gw_config_pool, as the reader. */
extern const struct config_section config_members_section;
CONFIG_READER(config_read_members_file);
