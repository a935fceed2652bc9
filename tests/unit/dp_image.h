/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Snapshot images for tests, made from plain arrays without control's builder, so that a test can
 * also say what no builder would ever write. Sections stand in the header's order.
 */
#pragma once

#include "abi/snapshot.h"

#include <fcntl.h>
#include <stddef.h>

struct image_pool {
	uint32_t id;
	uint32_t table_size;
	const uint32_t *members; /* global backend ids */
	uint32_t member_count;
	const uint16_t *slots; /* NULL: slot i names member i mod member_count */
	bool as_before;
	uint8_t digest; /* all 16 bytes of it */
};

struct image_spec {
	uint64_t version;
	uint64_t hash_seed;
	const struct gw_flow_timeouts *timeouts; /* NULL: 10, 900, 60 s for all classes */
	const struct image_pool *pools;
	uint64_t pool_count;
	const struct gw_service *services;
	uint64_t service_count;
	const struct gw_vip *vips;
	uint64_t vip_count;
	const struct gw_span *spans;
	uint64_t span_count;
	const struct gw_backend *backends;
	uint64_t backend_count;
	const struct gw_next_hop *next_hops;
	uint64_t next_hop_count;
};

/* Returns the image, aligned to 64 bytes; free() it. */
struct gw_snapshot_header *image_make(const struct image_spec *spec);

/* The records of a section, to be spoilt by a test. */
void *image_section(struct gw_snapshot_header *image, const struct gw_section *section);

/* A memfd with the image's bytes (the first `size` of them) and these seals. */
int image_memfd(const void *image, size_t size, int seals);

#define IMAGE_SEALS (F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

/* "203.0.113.10" or "2001:db8::1" as 16 bytes. */
struct gw_address image_address(const char *text);

/* A backend over IPv4 or IPv6, from `source` to `destination`, active. */
struct gw_backend image_backend(
	uint16_t pool, uint32_t next_hop, const char *source, const char *destination);

/* A resolved next hop: port 0, MACs 02:00:00:00:00:01 (its) and 02:00:00:00:00:02 (ours). */
struct gw_next_hop image_next_hop(const char *address);

/* A service address with nothing behind it. */
struct gw_vip image_vip(const char *address, uint8_t prefix_length);
