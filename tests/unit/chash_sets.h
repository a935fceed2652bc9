/* SPDX-License-Identifier: BSD-2-Clause */
/* Random member sets for the tests of lib/chash, the same in each run. */
#pragma once

#include "chash/chash.h"
#include "tests/unit/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SETS_COUNT(array) (sizeof(array) / sizeof((array)[0]))

static uint64_t sets_dice = 0x853c49e6748fea9bull;

static inline uint64_t sets_random(void)
{
	sets_dice ^= sets_dice << 13;
	sets_dice ^= sets_dice >> 7;
	sets_dice ^= sets_dice << 17;
	return sets_dice * 0x2545f4914f6cdd1dull;
}

static inline uint32_t sets_roll(uint32_t below)
{
	return (uint32_t)((sets_random() >> 32) * below >> 32);
}

/* A key from its number: spread over 64 bits, the same each time. */
static inline uint64_t sets_key(uint64_t number)
{
	number = (number + 1) * 0x9e3779b97f4a7c15ull;
	number = (number ^ number >> 30) * 0xbf58476d1ce4e5b9ull;
	number = (number ^ number >> 27) * 0x94d049bb133111ebull;
	return number ^ number >> 31;
}

static inline struct gw_chash *sets_new(enum gw_chash_algorithm algorithm)
{
	struct gw_chash_options options;
	struct gw_chash *set = NULL;

	gw_chash_options_init(&options, algorithm);
	CU_ASSERT_EQUAL_FATAL(gw_chash_create(&options, &set), 0);
	return set;
}

/* Member number `number`: its id does not sort by number, its zone is one of `zones`. */
static inline void sets_name(char id[32], uint32_t number)
{
	snprintf(id, 32, "%02x.node-%u", number * 37 % 251, number);
}

static inline void sets_add(struct gw_chash *set, uint32_t number, int64_t weight)
{
	char id[32];

	sets_name(id, number);
	CU_ASSERT_EQUAL(gw_chash_add_node(set, id, weight, NULL), 0);
}

static inline uint32_t sets_owner(const struct gw_chash_view *view, uint64_t key)
{
	uint32_t member = GW_CHASH_NONE;

	CU_ASSERT_EQUAL(gw_chash_get_node_u64(view, key, &member), 0);
	CU_ASSERT_FATAL(member < gw_chash_view_count(view));
	return member;
}

static inline const char *sets_id(const struct gw_chash_view *view, uint32_t member)
{
	return gw_chash_view_members(view)[member].id;
}

/* How many of `keys` keys each member owns; free() it. */
static inline uint32_t *sets_loads(const struct gw_chash_view *view, uint32_t keys)
{
	uint32_t *loads = calloc(gw_chash_view_count(view) + 1, sizeof(*loads));

	for (uint32_t i = 0; i < keys; i++)
		loads[sets_owner(view, sets_key(i))]++;
	return loads;
}
