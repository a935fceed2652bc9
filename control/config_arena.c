/* SPDX-License-Identifier: BSD-2-Clause */
#include "config_arena.h"

#include <stdalign.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_SIZE ((size_t)64 * 1024)

struct block {
	struct block *next;
	size_t size;
	size_t used;
	alignas(max_align_t) unsigned char data[];
};

struct gw_arena {
	struct block *blocks; /* the newest first; only it has room left that counts */
};

struct gw_arena *gw_arena_new(void)
{
	return calloc(1, sizeof(struct gw_arena));
}

void gw_arena_free(struct gw_arena *arena)
{
	if (!arena)
		return;
	for (struct block *block = arena->blocks, *next; block; block = next) {
		next = block->next;
		free(block);
	}
	free(arena);
}

static struct block *block_add(struct gw_arena *arena, size_t need)
{
	size_t size = need > BLOCK_SIZE ? need : BLOCK_SIZE;
	struct block *block;

	if (size > SIZE_MAX - sizeof(*block))
		return NULL;
	block = calloc(1, sizeof(*block) + size);
	if (!block)
		return NULL;
	block->size = size;
	block->next = arena->blocks;
	arena->blocks = block;
	return block;
}

void *gw_arena_alloc(struct gw_arena *arena, size_t count, size_t size)
{
	struct block *block = arena->blocks;
	size_t need;
	void *at;

	if (__builtin_mul_overflow(count, size, &need) || need > SIZE_MAX - alignof(max_align_t))
		return NULL;
	need = (need + alignof(max_align_t) - 1) & ~(alignof(max_align_t) - 1);
	if (!block || block->size - block->used < need) {
		block = block_add(arena, need);
		if (!block)
			return NULL;
	}
	at = block->data + block->used;
	block->used += need;
	return at;
}

char *gw_arena_strndup(struct gw_arena *arena, const char *text, size_t len)
{
	char *copy = gw_arena_alloc(arena, len + 1, 1);

	if (copy)
		memcpy(copy, text, len);
	return copy;
}

char *gw_arena_printf(struct gw_arena *arena, const char *format, ...)
{
	va_list args;
	char *text;
	int len;

	va_start(args, format);
	len = vsnprintf(NULL, 0, format, args);
	va_end(args);
	if (len < 0)
		return NULL;
	text = gw_arena_alloc(arena, (size_t)len + 1, 1);
	if (!text)
		return NULL;
	va_start(args, format);
	vsnprintf(text, (size_t)len + 1, format, args);
	va_end(args);
	return text;
}
