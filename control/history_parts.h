/* SPDX-License-Identifier: BSD-2-Clause */
/* What history.c and history_diff.c share. Internal. */
#pragma once

#include "control/history.h"

struct history_member {
	const char *name;
	const char *key;
	uint8_t address[16];
	uint32_t weight;
	uint32_t slots;
};

/* One pool in one or more versions; one block of memory. */
struct history_pool {
	const char *name;
	struct history_member *members; /* in the order of keys */
	uint32_t member_count;
	uint32_t table_size;
	struct gw_digest digest;
	uint64_t table_version;
	size_t bytes;
	unsigned int references;
};

struct history_service {
	const char *name;
	uint32_t pool; /* position in pools */
	enum gw_affinity affinity;
};

/* All services in one or more versions; one block of memory. */
struct history_services {
	struct history_service *list; /* by name */
	size_t count;
	size_t bytes;
	unsigned int references;
};

struct history_version {
	uint64_t version;
	uint64_t config;
	uint64_t hash_seed;
	int64_t published_ms;
	int64_t in_force_ms; /* 0: never yet */
	struct gw_cause cause;
	struct history_services *services;
	struct history_pool **pools; /* by name */
	size_t pool_count;
};

struct gw_history {
	struct history_version ring[GW_HISTORY_VERSIONS];
	size_t first, count;
	size_t bytes;
};

/* i-th, oldest first. */
static inline const struct history_version *history_at(const struct gw_history *history, size_t i)
{
	return &history->ring[(history->first + i) % GW_HISTORY_VERSIONS];
}
