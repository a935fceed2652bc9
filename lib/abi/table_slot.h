/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/* Where a hash falls in a pool's table. */
#pragma once

#include "abi/objects.h"

/*
 * hash % GW_DEFAULT_TABLE_SIZE. The size is 2^16 + 1, and 2^16 is -1 modulo that: the hash's four
 * digits of 16 bits are added and subtracted in turn, which takes a third of a division's time.
 * Each half of `sum` is the difference of two digits, and the size, so that it is not negative.
 */
GW_INLINE uint32_t gw_table_slot_default(uint64_t hash)
{
	const uint64_t digits = 0x0000ffff0000ffffull, sizes = 0x0001000100010001ull;
	uint64_t sum = (hash & digits) + sizes - (hash >> 16 & digits);
	uint32_t folded = (uint32_t)sum + (uint32_t)(sum >> 32);
	int32_t slot = (int32_t)(folded & 0xffff) - (int32_t)(folded >> 16);

	return (uint32_t)slot + ((uint32_t)(slot >> 31) & GW_DEFAULT_TABLE_SIZE);
}
_Static_assert(GW_DEFAULT_TABLE_SIZE == 65537, "what gw_table_slot_default computes with");

/* hash % table_size, whatever the size, which is not 0. */
GW_INLINE uint32_t gw_table_slot(uint64_t hash, uint32_t table_size)
{
	if (table_size == GW_DEFAULT_TABLE_SIZE)
		return gw_table_slot_default(hash);
	return (uint32_t)(hash % table_size);
}
