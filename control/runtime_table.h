/* SPDX-License-Identifier: BSD-2-Clause */
/* What runtime.c and runtime_state.c share: the table itself. Internal. */
#pragma once

#include "control/config_arena.h"
#include "control/runtime.h"

/* Sorted by pool, then name; strings lie in the arena, which each apply and load renews. */
struct gw_runtime {
	struct gw_runtime_backend *list;
	size_t count;
	struct gw_arena *arena;
};

/* Order of the table: negative, 0, positive. */
int runtime_compare(const char *pool_a, const char *name_a, const char *pool_b, const char *name_b);

/* Copies text, cut to size; what is no printable ASCII becomes '?' (the state file is JSON). */
void runtime_text_copy(char *to, size_t size, const char *text);
