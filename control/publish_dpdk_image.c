/* SPDX-License-Identifier: BSD-2-Clause */
#include "control/publish_dpdk_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

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

int image_memfd(const struct gw_snapshot *snapshot, const struct table_set *known)
{
	const struct gw_pool *pools = image_pools(snapshot->data);
	bool *wanted = calloc(snapshot->data->pools.count + 1, sizeof(*wanted));
	int fd = memfd_create("guideway-snapshot", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	int status = !wanted ? -ENOMEM : fd < 0 ? -errno : 0;
	void *map = MAP_FAILED;
	size_t size;

	if (status < 0)
		goto out;
	for (uint64_t i = 0; i < snapshot->data->pools.count; i++)
		wanted[i] = !known || !table_is_known(known, &pools[i]);
	size = gw_snapshot_image_size(snapshot, wanted);
	if (size > GW_SNAPSHOT_MAX_SIZE)
		status = -EFBIG;
	else if (ftruncate(fd, (off_t)size) < 0)
		status = -errno;
	else
		map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (!status && map == MAP_FAILED)
		status = -errno;
	if (status < 0)
		goto out;
	gw_snapshot_image_write(snapshot, wanted, map);
	munmap(map, size);
	if (fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0)
		status = -errno;
out:
	free(wanted);
	if (status < 0 && fd >= 0)
		close(fd);
	return status < 0 ? status : fd;
}
