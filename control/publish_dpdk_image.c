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

static int write_all(int fd, const void *data, size_t size, off_t at)
{
	while (size) {
		ssize_t done = pwrite(fd, data, size, at);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return done < 0 ? -errno : -EIO;
		data = (const char *)data + done;
		size -= (size_t)done;
		at += done;
	}
	return 0;
}

/* Written, not mapped: that spares clearing each page before it is filled, and the faults. */
static int image_write(int fd, const struct gw_snapshot *snapshot, const bool *wanted)
{
	struct gw_snapshot_header *front = malloc(snapshot->size);
	size_t size = gw_snapshot_image_size(snapshot, wanted);
	const struct gw_pool *pools;
	int status = 0;

	if (!front)
		return -ENOMEM;
	gw_snapshot_image_front(snapshot, wanted, front);
	pools = image_pools(front);
	if (size > GW_SNAPSHOT_MAX_SIZE)
		status = -EFBIG;
	else if (ftruncate(fd, (off_t)size) < 0)
		status = -errno;
	if (!status)
		status = write_all(fd, front, snapshot->size, 0);
	for (uint64_t i = 0; !status && i < front->pools.count; i++)
		if (pools[i].table_offset)
			status = write_all(fd, gw_snapshot_slots(snapshot, i),
				pools[i].table_size * sizeof(uint16_t),
				(off_t)pools[i].table_offset);
	free(front);
	return status;
}

int image_memfd(const struct gw_snapshot *snapshot, const struct table_set *known)
{
	const struct gw_pool *pools = image_pools(snapshot->data);
	bool *wanted = calloc(snapshot->data->pools.count + 1, sizeof(*wanted));
	int fd = memfd_create("guideway-snapshot", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	int status = !wanted ? -ENOMEM : fd < 0 ? -errno : 0;

	for (uint64_t i = 0; !status && i < snapshot->data->pools.count; i++)
		wanted[i] = !known || !table_is_known(known, &pools[i]);
	if (!status)
		status = image_write(fd, snapshot, wanted);
	if (!status && fcntl(fd, F_ADD_SEALS,
			       F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0)
		status = -errno;
	free(wanted);
	if (status < 0 && fd >= 0)
		close(fd);
	return status < 0 ? status : fd;
}
