/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A pool's table, made once and shared from then on: by the builds that follow while its members
 * stay, by the snapshots a publisher still holds, by the history. It is a pure function of
 * (members, weights, size); equal ones give equal slots and an equal digest on every node.
 *
 * References are counted without atomics: they are taken and given back on one thread. Making
 * tables is the costly part and may be spread over threads (gw_pool_tables_make).
 */
#pragma once

#include "abi/snapshot.h"

#include <stddef.h>
#include <stdint.h>

struct gw_chash_table;

struct gw_pool_table {
	const uint16_t *slots;	 /* size; indexes of members in the order they were given */
	uint32_t *counts;	 /* slots of each member */
	struct gw_digest digest; /* design.md, "Versions" */
	uint32_t size;
	uint32_t member_count; /* never 0 */
	uint64_t build_ns;
	unsigned int references;
	struct gw_chash_table *owner; /* of slots */
};

/* In the order of strcmp by key; weights above 0. */
struct gw_pool_table_member {
	const char *key;
	uint32_t weight;
};

/* One table to make. `status` and, when it is 0, `table` are the answer. */
struct gw_pool_table_order {
	const struct gw_pool_table_member *members;
	uint32_t member_count;
	uint32_t size; /* a prime */
	struct gw_pool_table *table;
	int status; /* 0, -ENOMEM, or a GW_CHASH_ERR of chash/chash.h */
};

/* On the calling thread. The answer is the order's. */
void gw_pool_table_make(struct gw_pool_table_order *order);

/*
 * All of them, on as many threads as there are CPUs this process may use (at most
 * GW_POOL_TABLE_THREADS); the calling thread is one and returns when all are done.
 */
#define GW_POOL_TABLE_THREADS 16
void gw_pool_tables_make(struct gw_pool_table_order *orders, size_t count);

struct gw_pool_table *gw_pool_table_ref(struct gw_pool_table *table);
void gw_pool_table_unref(struct gw_pool_table *table); /* NULL is fine */
