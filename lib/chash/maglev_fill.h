/* SPDX-License-Identifier: BSD-2-Clause */
/* Filling a Maglev table from offsets, skips and weights: maglev_fill.c says how. Internal. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* One member that has weight, in the order in which turns are taken. */
struct maglev_turn {
	uint32_t at;	 /* where its permutation stands: the offset, before the first turn */
	uint32_t skip;	 /* 1 ... size-1 */
	uint32_t member; /* what is written into its slots */
	uint32_t weight; /* > 0 */
};

/* One of the two is not NULL; `size` entries, every one written. */
struct maglev_slots {
	uint16_t *u16;
	uint32_t *u32;
	uint32_t size;
};

/* Offset and skip as Envoy has them: XXH64 with seeds 0 and 1. */
void maglev_turn_init(struct maglev_turn *turn, const char *key, size_t length, uint32_t size);

/*
 * Gives every slot an owner. `count` is 1 ... size, the size is prime; `turns` is used up.
 * Returns 0 or -ENOMEM, slots then undefined.
 */
int maglev_fill(struct maglev_turn *turns, uint32_t count, const struct maglev_slots *slots);

/* The same by the loop as Envoy's authors wrote it, turn by turn, for tests and for measuring. */
int maglev_fill_plainly(
	struct maglev_turn *turns, uint32_t count, const struct maglev_slots *slots);
