/* SPDX-License-Identifier: BSD-2-Clause */
#include "control/publisher.h"

#include <stdlib.h>
#include <string.h>

#define TABLE_ALIGN 64u

struct gw_snapshot *gw_snapshot_ref(struct gw_snapshot *snapshot)
{
	snapshot->references++;
	return snapshot;
}

void gw_snapshot_unref(struct gw_snapshot *snapshot)
{
	if (!snapshot || --snapshot->references)
		return;
	for (uint64_t i = 0; snapshot->tables && i < snapshot->data->pools.count; i++)
		gw_pool_table_unref(snapshot->tables[i]);
	free(snapshot->tables);
	free((void *)snapshot->data);
	free(snapshot);
}

static const struct gw_pool *snapshot_pools(const struct gw_snapshot *snapshot)
{
	return (const void *)((const char *)snapshot->data + snapshot->data->pools.offset);
}

const uint16_t *gw_snapshot_slots(const struct gw_snapshot *snapshot, size_t position)
{
	const struct gw_pool *pool = &snapshot_pools(snapshot)[position];

	if (!pool->member_count)
		return NULL;
	if (snapshot->tables)
		return snapshot->tables[position]->slots;
	return (const void *)((const char *)snapshot->data + pool->table_offset);
}

/* Each begins on a cache line. */
static size_t table_bytes(const struct gw_pool *pool)
{
	return ((size_t)pool->table_size * sizeof(uint16_t) + TABLE_ALIGN - 1) &
	       ~(size_t)(TABLE_ALIGN - 1);
}

static bool table_wanted(const struct gw_snapshot *snapshot, const bool *wanted, size_t position)
{
	return snapshot_pools(snapshot)[position].member_count && (!wanted || wanted[position]);
}

/* Where the tables begin: behind all else. */
static size_t front_size(const struct gw_snapshot *snapshot)
{
	return snapshot->data->tables.count ? snapshot->data->tables.offset : snapshot->size;
}

size_t gw_snapshot_image_size(const struct gw_snapshot *snapshot, const bool *wanted)
{
	size_t size = front_size(snapshot);

	for (size_t i = 0; i < snapshot->data->pools.count; i++)
		if (table_wanted(snapshot, wanted, i))
			size += table_bytes(&snapshot_pools(snapshot)[i]);
	return size;
}

void gw_snapshot_image_front(
	const struct gw_snapshot *snapshot, const bool *wanted, struct gw_snapshot_header *image)
{
	size_t front = front_size(snapshot), at = front;
	struct gw_pool *pools = (void *)((char *)image + snapshot->data->pools.offset);

	memcpy(image, snapshot->data, front);
	for (size_t i = 0; i < snapshot->data->pools.count; i++) {
		pools[i].table_offset = 0;
		if (!table_wanted(snapshot, wanted, i))
			continue;
		pools[i].table_offset = at;
		at += table_bytes(&pools[i]);
	}
	image->total_size = at;
	image->tables = (struct gw_section){at > front ? front : 0, at - front};
}

void gw_snapshot_image_write(
	const struct gw_snapshot *snapshot, const bool *wanted, struct gw_snapshot_header *image)
{
	const struct gw_pool *pools = (const void *)((char *)image + snapshot->data->pools.offset);

	gw_snapshot_image_front(snapshot, wanted, image);
	for (size_t i = 0; i < image->pools.count; i++)
		if (pools[i].table_offset)
			memcpy((char *)image + pools[i].table_offset,
				gw_snapshot_slots(snapshot, i),
				pools[i].table_size * sizeof(uint16_t));
}

struct gw_snapshot_header *gw_snapshot_image_whole(const struct gw_snapshot *snapshot)
{
	struct gw_snapshot_header *image = malloc(gw_snapshot_image_size(snapshot, NULL));

	if (image)
		gw_snapshot_image_write(snapshot, NULL, image);
	return image;
}
