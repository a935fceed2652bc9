/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory that is given back all at once: a model is thousands of small strings and arrays with one
 * common end. One thread at a time.
 */
#pragma once

#include <stddef.h>

struct gw_arena;

/* NULL without memory. */
struct gw_arena *gw_arena_new(void);

/* Gives back everything taken from it; NULL is fine. */
void gw_arena_free(struct gw_arena *arena);

/* Zeroed and aligned for any type; NULL without memory or when count * size overflows. */
void *gw_arena_alloc(struct gw_arena *arena, size_t count, size_t size);

/* A copy of len bytes with a NUL behind; NULL without memory. */
char *gw_arena_strndup(struct gw_arena *arena, const char *text, size_t len);

/* As sprintf into the arena; NULL without memory. */
char *gw_arena_printf(struct gw_arena *arena, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
