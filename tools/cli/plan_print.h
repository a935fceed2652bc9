/* SPDX-License-Identifier: BSD-2-Clause */
/* A plan, or the difference of two versions, as text. */
#pragma once

#include "cli.h"

void plan_print(const struct cli *cli, const json_t *plan);

/* The lines of one key, each with "WORD: " in front; nothing without any. */
void lines_print(const json_t *object, const char *key, const char *word);
