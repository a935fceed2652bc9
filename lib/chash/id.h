/* SPDX-License-Identifier: BSD-2-Clause */
/* Ids of members: what is legal, and their order. Internal. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct id_ref {
	const char *id;
	uint32_t length;
	uint32_t index;	 /* the caller's; carried along */
	uint64_t prefix; /* set by id_sort */
};

/* 0 and the length, or GW_CHASH_ERR_ID: empty, too long; GW_CHASH_ERR_ARGUMENT: NULL. */
int id_check(const char *id, uint32_t *length);

/* Sorts by the bytes of the ids (memcmp, the shorter first when one begins the other). */
void id_sort(struct id_ref *refs, size_t count);

/* The order id_sort sorts by: negative, 0 or positive. */
int id_compare(const char *a, uint32_t a_length, const char *b, uint32_t b_length);
