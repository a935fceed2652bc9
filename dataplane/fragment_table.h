/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where the datagrams' first fragments went (abi/fragment.h): ONE table for all workers, since a
 * first and its later fragments may come in on different queues. Set-associative, a cache line an
 * entry. Whoever writes an entry makes its sequence odd meanwhile (seqlock, taken by
 * compare-and-swap); who meets an odd or changed one goes on as if nothing stood there. Nobody
 * waits: at worst a decision is not remembered, and a later fragment is held until it expires.
 */
#pragma once

#include "abi/fragment.h"

struct gw_fragment_entry {
	uint32_t sequence; /* odd: being written */
	uint32_t id;
	uint32_t backend_protocol; /* backend, and the protocol in the topmost byte */
	uint32_t service;
	uint64_t address[4];
	uint64_t hash;
	uint64_t expires_ns; /* 0: never used, or taken back */
} __attribute__((aligned(GW_CACHE_LINE)));
_Static_assert(sizeof(struct gw_fragment_entry) == GW_CACHE_LINE, "an entry is one cache line");
_Static_assert(GW_MAX_BACKENDS <= 1u << 24, "a backend's id leaves room for the protocol");

struct gw_fragment_table {
	struct gw_fragment_entry *entry; /* [GW_FRAGMENT_DECISIONS] */
	uint64_t seed;			 /* random: collisions cannot be aimed at */

	/* Rises whenever a decision is made (atomic); apart, as workers read the others. */
	uint64_t changes __attribute__((aligned(GW_CACHE_LINE)));
};

/* Near NUMA node `socket`. 0 or -ENOMEM. */
int gw_fragment_table_init(struct gw_fragment_table *table, uint64_t seed, int socket);
void gw_fragment_table_fini(struct gw_fragment_table *table);

/* Place of a key in the table, and a tag to tell keys apart by: its high 32 bits. */
uint64_t gw_fragment_hash(const struct gw_fragment_table *table, const struct gw_fragment_key *key);

/*
 * Remembers, in place of what the same key had, else of the decision of its set that expires first.
 * Any thread.
 */
void gw_fragment_remember(struct gw_fragment_table *table, const struct gw_fragment_key *key,
	const struct gw_fragment_decision *decision);

/* Takes back what an earlier datagram of the same key has left. Any thread. */
void gw_fragment_forget(struct gw_fragment_table *table, const struct gw_fragment_key *key);

/* True and *decision when there is one that is not over. Any thread. */
bool gw_fragment_find(const struct gw_fragment_table *table, const struct gw_fragment_key *key,
	uint64_t now_ns, struct gw_fragment_decision *decision);
