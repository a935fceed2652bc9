/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The live next hops: one entry per distinct underlay destination of the snapshot in force, found
 * by address and by how it may be reached, so that an entry and what is known about it outlive the
 * snapshots that name it.
 *
 * Three parties:
 *	main          adds and removes entries when a snapshot comes (under `lock`); a new entry
 *	              starts with the snapshot's hint
 *	neighbour.c   (host thread) walks the entries under `lock` and writes links and MTUs
 *	workers       read one entry's link as two words and its MTU, without a lock
 *
 * An entry that left the snapshot is removed only when no worker can hold the generation that used
 * it. Entry 0 is never resolved: backends without a next hop point there.
 */
#pragma once

#include "abi/objects.h"

#include <pthread.h>
#include <stddef.h>

#define GW_NEXT_HOPS_MAX (GW_MAX_BACKENDS + 1)

/*
 * What workers read: 32 bytes, in one cache line. link.port is the egress port's index (in the
 * order of --port, as HELLO lists them).
 */
struct gw_live_hop {
	struct gw_link link; /* gw_link_load reads it, gw_next_hop_store writes it */
	uint32_t mtu;	     /* of the egress link or the route; 0: not known, taken as 1500 */
	uint32_t reserved;
	uint64_t path_mtu; /* learnt, by a worker (atomic): abi/path_mtu.h; 0: nothing */
} __attribute__((aligned(32)));
_Static_assert(sizeof(struct gw_live_hop) == 32, "live hop layout");

/* What main and neighbour.c know besides. */
struct gw_hop_entry {
	struct gw_address address;
	uint32_t references; /* generations that name it; 0: the entry is free */
	uint32_t chain;	     /* next entry with the same hash, or the next free one; 0: none */
	uint8_t family;
	uint8_t flags; /* GW_HOP_* */
	uint8_t reserved[2];
	uint32_t owner; /* free for neighbour.c's own bookkeeping; 0 when the entry is new */
};

struct gw_next_hops {
	/* Workers read these two for each packet; nothing that changes may lie beside them. */
	struct gw_live_hop *live; /* [GW_NEXT_HOPS_MAX] */
	struct gw_paths *paths;	  /* [GW_MAX_PATHS], by gw_link_record of a multipath link */

	pthread_mutex_t lock __attribute__((aligned(GW_CACHE_LINE)));
	struct gw_hop_entry *entry; /* [GW_NEXT_HOPS_MAX]; under lock */
	uint32_t *bucket;	    /* hash heads; under lock */
	uint32_t end;		    /* entries 1 … end-1 have been used; under lock */
	uint32_t free;		    /* first free entry; under lock */
	uint64_t version;	    /* rises with each change of the set; atomic */

	/* Rises behind each change of what a live hop says; atomic. Workers read it each burst. */
	uint32_t changes __attribute__((aligned(GW_CACHE_LINE)));
};

/* Returns 0 or -ENOMEM. */
int gw_next_hops_init(struct gw_next_hops *hops);
void gw_next_hops_fini(struct gw_next_hops *hops);

/*
 * Finds or adds the entry of an address and flags and takes a reference on it. A new entry starts
 * with the hint's link (when resolved) and MTU. Main only. Returns the entry's index, or 0 when all
 * are taken.
 */
uint32_t gw_next_hop_take(struct gw_next_hops *hops, const struct gw_next_hop *hint);

/* The entry of an address and its flags, 0 for none. The caller holds `lock`. */
uint32_t gw_next_hop_find(
	struct gw_next_hops *hops, const struct gw_address *address, uint8_t flags);

/* Gives the reference back. Main only; index 0 is fine. */
void gw_next_hop_drop(struct gw_next_hops *hops, uint32_t index);

/*
 * Writes a link (flags 0: unresolved) so that no reader sees half a word. One writer at a time:
 * the caller holds `lock`.
 */
void gw_next_hop_store(struct gw_next_hops *hops, uint32_t index, const struct gw_link *link);

/* Writes the MTU of the link or route; 0: not known. As gw_next_hop_store. */
void gw_next_hop_store_mtu(struct gw_next_hops *hops, uint32_t index, uint32_t mtu);

/*
 * Notes what a report told of the way (abi/path_mtu.h). Any worker, without the lock: `word` takes
 * the place of what was there.
 */
void gw_next_hop_learn(struct gw_next_hops *hops, uint32_t index, uint64_t word);
