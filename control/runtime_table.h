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

/* runtime_enter.c: it goes down after it was up. */
void runtime_flip_note(struct gw_runtime_backend *entry, int64_t now_ms);
bool runtime_held(const struct gw_runtime_backend *entry, int64_t now_ms);
/* Per cent of its weight that slow start allows. */
uint8_t runtime_ramp(const struct gw_runtime_backend *entry, int64_t now_ms);

/* runtime_effect.c: health, file and overrides would have it in the table. */
bool runtime_takes_part(
	const struct gw_runtime *runtime, const struct gw_runtime_backend *entry, int64_t now_ms);
