/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Keys of the file as a whole: its version, and other files that belong to it.
 */
#pragma once

#include "config_walk.h"

CONFIG_READER(config_read_version);
CONFIG_READER(config_read_include);   /* adds to walk->sources */
CONFIG_READER(config_read_seed_file); /* of struct gw_config: hash_seed and hash_seed_file */
