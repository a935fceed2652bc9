/* SPDX-License-Identifier: BSD-2-Clause */
#include "control/publish_dpdk_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define TABLE_ALIGN 64u

static int known_order(const void *a, const void *b)
{
	const struct table_known *left = a, *right = b;

	return (left->pool > right->pool) - (left->pool < right->pool);
}

static const struct gw_pool *image_pools(const struct gw_snapshot_header *image)
{
	return (const struct gw_pool *)((const char *)image + image->pools.offset);
}

int table_set_take(struct table_set *set, const struct gw_snapshot_header *image)
{
	const struct gw_pool *pools = image_pools(image);
	struct table_set next = {
		.list = calloc(image->pools.count ? image->pools.count : 1, sizeof(*next.list))};

	if (!next.list)
		return -ENOMEM;
	for (uint64_t i = 0; i < image->pools.count; i++)
		if (pools[i].member_count)
			next.list[next.count++] = (struct table_known){
				.pool = pools[i].id, .digest = pools[i].digest};
	qsort(next.list, next.count, sizeof(*next.list), known_order);
	table_set_clear(set);
	*set = next;
	return 0;
}

void table_set_clear(struct table_set *set)
{
	free(set->list);
	*set = (struct table_set){0};
}

static bool table_is_known(const struct table_set *known, const struct gw_pool *pool)
{
	struct table_known key = {.pool = pool->id};
	const struct table_known *found =
		known->count ? bsearch(&key, known->list, known->count, sizeof(key), known_order)
			     : NULL;

	return found && !memcmp(&found->digest, &pool->digest, sizeof(pool->digest));
}

static uint64_t table_bytes(const struct gw_pool *pool)
{
	return ((uint64_t)pool->table_size * sizeof(uint16_t) + TABLE_ALIGN - 1) &
	       ~(uint64_t)(TABLE_ALIGN - 1);
}

/* Everything in front of the tables, then the tables that are wanted. */
static void image_copy(const struct gw_snapshot_header *image, const struct table_set *known,
	uint64_t tables, struct gw_snapshot_header *thin)
{
	struct gw_pool *pools;
	uint64_t at = image->tables.offset;

	memcpy(thin, image, image->tables.offset);
	thin->total_size = image->tables.offset + tables;
	thin->tables.count = tables;
	if (!tables)
		thin->tables.offset = 0;
	pools = (struct gw_pool *)((char *)thin + thin->pools.offset);
	for (uint64_t i = 0; i < thin->pools.count; i++) {
		if (!pools[i].table_offset)
			continue;
		if (table_is_known(known, &pools[i])) {
			pools[i].table_offset = 0;
			continue;
		}
		memcpy((char *)thin + at, (const char *)image + pools[i].table_offset,
			pools[i].table_size * sizeof(uint16_t));
		pools[i].table_offset = at;
		at += table_bytes(&pools[i]);
	}
}

int image_thin(const struct gw_snapshot_header *image, const struct table_set *known)
{
	const struct gw_pool *pools = image_pools(image);
	uint64_t tables = 0, left_out = 0, size;
	int fd, status = 0;
	void *map;

	for (uint64_t i = 0; i < image->pools.count; i++) {
		if (!pools[i].table_offset)
			continue;
		if (table_is_known(known, &pools[i]))
			left_out++;
		else
			tables += table_bytes(&pools[i]);
	}
	if (!left_out)
		return -ENODATA;
	size = image->tables.offset + tables;
	fd = memfd_create("guideway-snapshot", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0)
		return -errno;
	if (ftruncate(fd, (off_t)size) < 0) {
		status = -errno;
		goto fail;
	}
	map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED) {
		status = -errno;
		goto fail;
	}
	image_copy(image, known, tables, map);
	munmap(map, size);
	if (fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0) {
		status = -errno;
		goto fail;
	}
	return fd;
fail:
	close(fd);
	return status;
}
