/* SPDX-License-Identifier: BSD-2-Clause */
/* What several commands do with backends. */
#pragma once

#include "cli.h"

/* The table of `backend list`. */
void backends_print(const struct cli *cli, const json_t *list);

/*
 * The API's path of the backend named "b1" (if only one pool has it) or "web/b1". Returns an exit
 * status, having said what is wrong.
 */
int backend_path(struct cli *cli, const char *name, char *path, size_t size);

/* Gets what the API has at the backend's path and `sub` below it, and prints it. An exit status. */
int backend_tell(struct cli *cli, const char *name, const char *sub, void (*print)(const json_t *));

/* Sends a change of the backend and says what came of it. Consumes the body. An exit status. */
int backend_change(struct cli *cli, const char *name, json_t *body);
