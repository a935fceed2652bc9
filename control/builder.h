/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From (configuration, runtime, ids) to a build: the snapshot that publishers put in force, and
 * beside it the names and numbers that the rest of control, the CLI and plan read.
 *
 * A build is immutable and stands alone: it refers to neither the configuration nor the runtime it
 * came from. Given the previous build, only pools whose (members, weights, table size) differ get a
 * new table; the others share theirs with it, so a health change costs one pool.
 *
 *	gw_ids_assign(ids, config, ...);  gw_runtime_apply(runtime, config, ...);
 *	gw_build_make(&(struct gw_build_input){.config = config, ...}, &build, &error);
 *	publisher->ops->publish(publisher, build->snapshot);
 */
#pragma once

#include "abi/snapshot.h"
#include "control/ids.h"
#include "control/model.h"
#include "control/publisher.h"
#include "control/runtime.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gw_state; /* state.h */

/* One backend, member or not. Pointers live as long as the build. */
struct gw_build_backend {
	const char *name;
	const char *key; /* member key */
	uint32_t id;
	uint32_t pool; /* position in pools */
	uint8_t address[16];
	uint32_t slots; /* of its pool's table */
	struct gw_effect effect;
};

struct gw_build_pool {
	const char *name;
	const char *base; /* of which pool of the file it is a part; its own name if it is one */
	uint32_t id;
	uint32_t table_size;
	uint32_t member_count;
	struct gw_build_backend *backends; /* in the file's order */
	size_t backend_count;
	uint32_t *members; /* slot's member index -> position in backends; member_count */
	const struct gw_pool_table
		*table;		 /* NULL without members; the snapshot holds the reference */
	const uint16_t *slots;	 /* the table's; NULL without members */
	struct gw_digest digest; /* zero without members */
	uint64_t table_version;	 /* 0 without members */
	struct gw_pool_effect effect;
	enum gw_encap encap;
	bool keep_on_down;
	uint16_t gue_port;
	bool gue_checksum;
	bool entropy;
	uint16_t mtu;	   /* 0: the egress link's */
	bool rebuilt;	   /* its table was made anew in this build */
	uint64_t build_ns; /* how long that took */
};

struct gw_build_service {
	const char *name;
	const char *base; /* of which service of the file it is a part; its own name if it is one */
	uint32_t id;
	uint32_t pool; /* position in pools */
	enum gw_affinity affinity;
	bool track_flows;
	uint8_t protocol; /* GW_CONFIG_PROTOCOL_ANY: any */
};

struct gw_build {
	struct gw_snapshot *snapshot; /* the build's own reference */
	struct gw_build_pool *pools;  /* in the file's order */
	size_t pool_count;
	struct gw_build_service *services; /* in the file's order */
	size_t service_count;
	uint64_t version;
	uint64_t hash_seed;
	size_t rebuilt_count; /* pools */
	uint64_t took_ns;
	/* Sorted by name. */
	const struct gw_build_pool **pools_by_name;
	const struct gw_build_service **services_by_name;
	/* By number, for answers from the datapaths; NULL entries where there is none. */
	const struct gw_build_service **service_by_id;
	size_t service_by_id_count;
	const struct gw_build_backend **backend_by_id;
	size_t backend_by_id_count;
	struct gw_arena *arena;
};

/*
 * A first answer for a next hop, whose address and flags are there: writes its link, and its MTU
 * where that is known. Left alone it is unresolved, and the datapath finds out.
 */
typedef void gw_link_hint(void *owner, struct gw_next_hop *hop);

struct gw_build_input {
	const struct gw_config *config;
	const struct gw_runtime *runtime; /* NULL: as the file states them, all healthy */
	const struct gw_ids *ids;	  /* config must have been assigned */
	const struct gw_build *previous;  /* NULL: every table is made */
	const struct gw_state *state;	  /* NULL, or where table versions of a former run are */
	uint64_t version;		  /* above the previous one's, never 0 */
	int64_t now_ms;			  /* wall clock */
	gw_link_hint *hint;		  /* NULL: all unresolved */
	void *hint_owner;
};

#define GW_BUILD_ERROR 256

/*
 * Makes a build; the caller owns it. Returns 0 or -errno with one line in `error`: -EINVAL (the
 * configuration cannot be built: which pool or service, and why), -E2BIG (a limit of
 * abi/objects.h), -ENOMEM. On failure *out is untouched. Any thread, while nobody changes what the
 * input names.
 */
int gw_build_make(const struct gw_build_input *input, struct gw_build **out,
	char error[static GW_BUILD_ERROR]);
void gw_build_free(struct gw_build *build); /* NULL is fine */

/* Would a datapath that runs one see any difference in the other? Versions aside. */
bool gw_build_same(const struct gw_build *a, const struct gw_build *b);
/* Before it is published. */
void gw_build_renumber(struct gw_build *build, uint64_t version);

const struct gw_build_pool *gw_build_pool_find(const struct gw_build *build, const char *name);
const struct gw_build_service *gw_build_service_find(
	const struct gw_build *build, const char *name);
/* By global id; NULL when the build has none such. The pool is written if `pool` is not NULL. */
const struct gw_build_backend *gw_build_backend_at(
	const struct gw_build *build, uint32_t id, const struct gw_build_pool **pool);
/* 32 lowercase hexadecimal digits and a NUL. Returns text. */
char *gw_digest_format(const struct gw_digest *digest, char text[static 33]);

/* guideway-replay's hint: every next hop has MAC 02:00:00:00:00:01, ours is 02:00:00:00:00:02,
 * port 0. */
void gw_link_hint_fixed(void *owner, struct gw_next_hop *hop);

/*
 * What offline commands need in one call: ids from 1, backends as the file states them except those
 * in `down` (names, "NAME" or "POOL/NAME"; an unknown one is -ENOENT), version 1.
 */
int gw_build_offline(const struct gw_config *config, const char *const *down, size_t down_count,
	gw_link_hint *hint, struct gw_build **out, char error[static GW_BUILD_ERROR]);
