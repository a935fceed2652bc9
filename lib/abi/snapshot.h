/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The snapshot: everything a datapath needs to know, in one flat image. Control builds it; the DPDK
 * dataplane gets it as a sealed memfd (F_SEAL_WRITE, SHRINK, GROW, SEAL), the XDP publisher writes
 * the same image into maps, guideway-replay feeds it to either.
 *
 *	header | pools | services | vips | spans | backends | members | next hops | tables
 *
 * Every section is an array at a byte offset from the image's start, aligned to 64 bytes. Little
 * endian hosts write little endian: the image never leaves the machine. Who reads it trusts
 * nothing: each offset, count and index is checked before use (dataplane/snapshot.c).
 *
 * A table is `table_size` slots of u16, each an index into its pool's member list, which maps it to
 * a global backend id. Table offset 0 means "as before": the reader has the table of this digest
 * already. A pool without any eligible member has member_count 0 and no table.
 */
#pragma once

#include "abi/flow_word.h"
#include "abi/objects.h"
#include "abi/types.h"

#define GW_SNAPSHOT_MAGIC	0x31504e5359415747ull /* "GWAYSNP1" read little endian */
#define GW_SNAPSHOT_ABI_VERSION 2u
#define GW_SNAPSHOT_MAX_SIZE	(4ull << 30)

/* A section: `count` records from byte `offset`. An empty section has both zero. */
struct gw_section {
	uint64_t offset;
	uint64_t count;
};

struct gw_snapshot_header {
	uint64_t magic;
	uint32_t abi_version;
	uint32_t header_size; /* sizeof(struct gw_snapshot_header) */
	uint64_t version;     /* rises with each snapshot, never 0 */
	uint64_t total_size;  /* bytes of the whole image */
	uint64_t hash_seed;
	struct gw_flow_timeouts timeouts;
	uint32_t fragment_ms; /* how long a datagram's first fragment is remembered, a later held */
	/* The node withdraws once control has been silent for so many seconds; 0: never. */
	uint32_t control_lost_s;
	uint64_t reserved[2];
	struct gw_section pools;     /* struct gw_pool, any order, unique ids */
	struct gw_section services;  /* struct gw_service, by service id */
	struct gw_section vips;	     /* struct gw_vip */
	struct gw_section spans;     /* struct gw_span */
	struct gw_section backends;  /* struct gw_backend, by backend id */
	struct gw_section members;   /* uint32_t backend ids, in each pool's sorted order */
	struct gw_section next_hops; /* struct gw_next_hop */
	struct gw_section tables;    /* bytes */
};
_Static_assert(sizeof(struct gw_snapshot_header) == 224, "header layout");
_Static_assert(offsetof(struct gw_snapshot_header, pools) == 96, "header layout");

struct gw_pool {
	uint32_t id; /* below GW_MAX_POOLS; struct gw_service.pool and gw_backend.pool name it */
	uint32_t table_size;   /* M, prime */
	uint32_t member_first; /* index into members */
	uint32_t member_count;
	uint64_t table_offset; /* from the image's start; 0: as before, or no members */
	struct gw_digest digest;
	uint64_t table_version; /* the snapshot version in which this table first appeared */
	uint64_t reserved[2];
};
_Static_assert(sizeof(struct gw_pool) == 64, "pool layout");
