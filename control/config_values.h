/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Readers of plain values: numbers, durations, percentages, words and text. Each says what it got
 * and what it wants; units are never guessed.
 */
#pragma once

#include "config_walk.h"

/* The text of a scalar that has a value and no NUL within; else NULL and an error. */
const char *config_text(struct config_walk *walk, const yaml_node_t *node);

/*
 * Decimal digits, with hex also "0x…". Returns 0, -EINVAL when it is no whole number, -ERANGE when
 * it is one outside min and max.
 */
int config_number_parse(const char *text, bool hex, uint64_t min, uint64_t max, uint64_t *value);

/* One number, or its error. */
bool config_number(struct config_walk *walk, const yaml_node_t *node, uint64_t min, uint64_t max,
	uint64_t *value);

/* "80" or "8000-8099". */
bool config_range(struct config_walk *walk, const yaml_node_t *node, uint64_t min, uint64_t max,
	struct gw_config_range *range);

CONFIG_READER(config_read_number);	 /* key->min … max */
CONFIG_READER(config_read_seed);	 /* a u64, decimal or hex */
CONFIG_READER(config_read_duration);	 /* key->min … max ms, stored in key->unit_ms */
CONFIG_READER(config_read_off_duration); /* the same, or "off": 0 */
CONFIG_READER(config_read_off_percent);	 /* 1% … 100% or "off": 0 */
CONFIG_READER(config_read_word);	 /* one of key->words */
CONFIG_READER(config_read_name);	 /* letters, digits, . _ -; at most GW_NAME_MAX */
CONFIG_READER(config_read_text);	 /* printable, without blanks, key->min … max bytes */
CONFIG_READER(config_read_url_path);	 /* of a request: '/' and printable text, without blanks */
CONFIG_READER(config_read_path);	 /* an absolute path, at most key->max bytes */

/* The word "off". */
bool config_is_off(const yaml_node_t *node);

/* Whether the text may be the name of something. */
bool config_name_valid(const char *name);
