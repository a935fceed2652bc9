/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A generation is one snapshot in force: the engine's own, checked copy of an image, one view per
 * NUMA node that has workers. Workers read the engine's one pointer at the start of a burst and
 * report a quiescent state after it; main swaps the pointer and frees the old generation once every
 * worker has passed such a state (rte_rcu_qsbr; sleeping workers are offline).
 *
 * Tables are counted references: a table "as before" is the old one, shared by both generations.
 */
#pragma once

#include "abi/path_mtu.h"
#include "abi/snapshot.h"

#include <rte_hash.h>
#include <rte_memory.h>

#include <stddef.h>

/* One table's slots on one NUMA node. Main owns the count. */
struct gw_table {
	uint32_t references;
	uint32_t size;
	uint32_t slot_max; /* the highest member index in it */
	int socket;
	struct gw_digest digest;
	uint16_t slot[] __attribute__((aligned(GW_CACHE_LINE)));
};

/* What the packet path needs of one pool. */
struct gw_view_pool {
	const uint16_t *slot;	/* [table_size]; NULL: no eligible member */
	const uint32_t *member; /* slot's value -> global backend id */
	uint32_t table_size;
	uint32_t member_count;
	struct gw_table *table; /* what `slot` points into; used by main only */
};

/* An address that some backend has. Those without a tunnel have no modes. */
struct gw_view_endpoint {
	struct gw_address address;
	struct gw_endpoint endpoint;
};

/* One generation as one NUMA node sees it; immutable. backend.next_hop is translated to the index
 * of a live hop. */
struct gw_view {
	uint64_t version;
	uint64_t services_version; /* since which addresses and ports lead to the same, unchanged
				      services */
	uint64_t backends_version; /* since which backends and their next hops are the same */
	uint64_t hash_seed;
	struct gw_flow_timeouts timeouts;
	uint64_t fragment_ns;	     /* how long a first fragment's decision lasts */
	struct rte_hash *vip_exact;  /* struct gw_address -> index into vip, full-length */
	struct rte_hash *vip_prefix; /* struct gw_vip_key -> same, shorter ones; NULL: none */
	uint8_t prefix_lengths[129]; /* those that occur, longest first */
	uint32_t prefix_length_count;
	uint32_t vip_count;
	uint32_t span_count;
	uint32_t service_count;
	uint32_t backend_count;
	uint32_t pool_count; /* highest pool id + 1 */
	uint32_t member_count;
	const struct gw_vip *vip;
	const struct gw_span *span;
	const struct gw_service *service;
	bool some_untracked; /* of these, at least one has GW_SERVICE_UNTRACKED */
	const struct gw_backend *backend;
	const struct gw_view_pool *pool; /* by pool id; table_size 0: no such pool */
	const uint32_t *member;
	const struct gw_view_endpoint *endpoint; /* sorted by address */
	uint32_t endpoint_count;
	struct gw_tunnel_source source[GW_PATH_MTU_SOURCES];
	size_t size; /* of the one block of memory that holds all this */
	int socket;
};

struct gw_next_hops;

struct gw_generation {
	uint64_t version;
	uint32_t control_lost_s; /* of the snapshot */
	uint64_t token; /* RCU: every worker must have passed it before this may be freed */
	struct gw_generation *next_retired;
	struct gw_next_hops *hops;
	uint32_t *hop; /* live hops this generation holds references on */
	uint32_t hop_count;
	struct gw_view *view[RTE_MAX_NUMA_NODES]; /* NULL where no worker runs */
};

/*
 * Copies a checked image (gw_snapshot_check passed) for the NUMA nodes marked in `sockets`. Tables
 * given "as before" are taken from `previous` (may be NULL); gw_generation_missing must have found
 * none missing. Main only. Returns 0, or -ENOMEM with nothing changed.
 */
int gw_generation_build(struct gw_generation **out, const struct gw_snapshot_header *image,
	const struct gw_generation *previous, struct gw_next_hops *hops,
	const bool sockets[RTE_MAX_NUMA_NODES]);

/*
 * Counts the pools whose table is given "as before" though `previous` has no table of that digest
 * that fits their members; their ids go to missing[GW_MAX_POOLS].
 */
uint32_t gw_generation_missing(const struct gw_snapshot_header *image,
	const struct gw_generation *previous, uint32_t *missing);

/* No reader may hold it any more. NULL is fine. Main only. */
/* Some node's view: they differ only in where they lie. NULL is fine, and answered by NULL. */
const struct gw_view *gw_generation_view(const struct gw_generation *generation);

void gw_generation_free(struct gw_generation *generation);

/* The backends at an address that are reached by a tunnel; NULL: there are none. */
const struct gw_endpoint *gw_view_endpoint(
	const struct gw_view *view, const struct gw_address *address);

/* May the tracked flow of this word stay where it is? */
static inline bool gw_view_keeps_flow(
	const struct gw_view *view, uint64_t word, uint32_t pool, enum gw_flow_event event)
{
	uint32_t backend = gw_flow_backend(word);

	return backend < view->backend_count &&
	       gw_backend_keeps_flow(&view->backend[backend], pool, event == GW_FLOW_SYN);
}
