/* SPDX-License-Identifier: BSD-2-Clause */
#include "control/table.h"

#include "chash/chash.h"

#include <xxhash.h>

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define DIGEST_CHUNK 16384u
/* Fewer tables than this are made sooner than a thread is started. */
#define ORDERS_PER_THREAD 4u

static uint64_t clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

struct gw_pool_table *gw_pool_table_ref(struct gw_pool_table *table)
{
	table->references++;
	return table;
}

void gw_pool_table_unref(struct gw_pool_table *table)
{
	if (!table || --table->references)
		return;
	gw_chash_table_free(table->owner);
	free(table->counts);
	free(table);
}

/*
 * The members' keys with their NULs, each at the start of a row; rows are as long as the longest
 * needs, in whole steps of KEY_STEP. A digest copies whole steps, which costs less than copying
 * what is needed.
 */
struct keys {
	char *rows;
	size_t *lengths;
	size_t row;
};

#define KEY_STEP 16u

static int keys_init(struct keys *keys, const struct gw_pool_table_member *members, uint32_t count)
{
	keys->lengths = malloc(count * sizeof(*keys->lengths));
	for (uint32_t i = 0; keys->lengths && i < count; i++) {
		keys->lengths[i] = strlen(members[i].key) + 1;
		keys->row = keys->lengths[i] > keys->row ? keys->lengths[i] : keys->row;
	}
	keys->row = (keys->row + KEY_STEP - 1) / KEY_STEP * KEY_STEP;
	keys->rows = keys->lengths ? calloc(count, keys->row) : NULL;
	for (uint32_t i = 0; keys->rows && i < count; i++)
		memcpy(keys->rows + i * keys->row, members[i].key, keys->lengths[i]);
	return keys->rows ? 0 : -ENOMEM;
}

/* XXH3-128 over little-endian u32 size, then for every slot the member's key and its NUL. */
static void digest_compute(
	struct gw_pool_table *table, const struct keys *keys, XXH3_state_t *state, char *chunk)
{
	const uint32_t size = table->size;
	const uint8_t head[4] = {
		(uint8_t)size, (uint8_t)(size >> 8), (uint8_t)(size >> 16), (uint8_t)(size >> 24)};
	XXH128_canonical_t canonical;
	size_t used = 0;

	XXH3_128bits_reset(state);
	XXH3_128bits_update(state, head, sizeof(head));
	for (uint32_t slot = 0; slot < size; slot++) {
		const char *row = keys->rows + table->slots[slot] * keys->row;

		for (size_t at = 0; at < keys->row; at += KEY_STEP)
			memcpy(chunk + used + at, row + at, KEY_STEP);
		used += keys->lengths[table->slots[slot]];
		if (used >= DIGEST_CHUNK) {
			XXH3_128bits_update(state, chunk, used);
			used = 0;
		}
	}
	XXH3_128bits_update(state, chunk, used);
	XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(state));
	memcpy(table->digest.bytes, canonical.digest, sizeof(table->digest.bytes));
}

static int digest_make(struct gw_pool_table *table, const struct gw_pool_table_member *members)
{
	XXH3_state_t *state = XXH3_createState();
	struct keys keys = {0};
	int status = keys_init(&keys, members, table->member_count);
	char *chunk = status ? NULL : malloc(DIGEST_CHUNK + keys.row);

	if (state && chunk)
		digest_compute(table, &keys, state, chunk);
	else
		status = -ENOMEM;
	XXH3_freeState(state);
	free(chunk);
	free(keys.rows);
	free(keys.lengths);
	return status;
}

/* Fills an empty table. */
static int table_fill(struct gw_pool_table *table, const struct gw_pool_table_order *order)
{
	struct gw_chash_table_member *members = calloc(order->member_count, sizeof(*members));
	int status;

	if (!members)
		return -ENOMEM;
	for (uint32_t i = 0; i < order->member_count; i++) {
		members[i].key = order->members[i].key;
		members[i].weight = order->members[i].weight;
	}
	status = gw_chash_table_build(members, order->member_count, order->size, &table->owner);
	free(members);
	if (status < 0)
		return status == GW_CHASH_ERR_MEMORY ? -ENOMEM : status;
	if (!table->owner->u16)
		return GW_CHASH_ERR_SLOTS;
	/* The members came in the order of their keys, so the library's indexes are ours. */
	table->slots = table->owner->u16;
	table->size = order->size;
	table->member_count = order->member_count;
	table->counts = calloc(order->member_count, sizeof(*table->counts));
	if (!table->counts)
		return -ENOMEM;
	for (uint32_t slot = 0; slot < table->size; slot++)
		table->counts[table->slots[slot]]++;
	return digest_make(table, order->members);
}

void gw_pool_table_make(struct gw_pool_table_order *order)
{
	struct gw_pool_table *table = calloc(1, sizeof(*table));
	uint64_t start = clock_ns();

	order->status = -ENOMEM;
	if (!table)
		return;
	table->references = 1;
	order->status = table_fill(table, order);
	if (order->status < 0) {
		gw_pool_table_unref(table);
		return;
	}
	table->build_ns = clock_ns() - start;
	order->table = table;
}

/* Threads take the next order until none is left. */
struct crew {
	struct gw_pool_table_order *orders;
	size_t count;
	atomic_size_t next;
};

static void *crew_work(void *argument)
{
	struct crew *crew = argument;
	size_t mine;

	while ((mine = atomic_fetch_add(&crew->next, 1)) < crew->count)
		gw_pool_table_make(&crew->orders[mine]);
	return NULL;
}

static size_t cpus_allowed(void)
{
	cpu_set_t set;
	int count = sched_getaffinity(0, sizeof(set), &set) ? 1 : CPU_COUNT(&set);

	return count < 1 ? 1 : (size_t)count;
}

void gw_pool_tables_make(struct gw_pool_table_order *orders, size_t count)
{
	struct crew crew = {.orders = orders, .count = count};
	size_t wanted = count / ORDERS_PER_THREAD, cpus = cpus_allowed(), started = 0;
	pthread_t threads[GW_POOL_TABLE_THREADS];

	wanted = wanted < cpus ? wanted : cpus;
	wanted = wanted < GW_POOL_TABLE_THREADS ? wanted : GW_POOL_TABLE_THREADS;
	/* A thread that cannot be started only means that the others do more. */
	while (started + 1 < wanted && !pthread_create(&threads[started], NULL, crew_work, &crew))
		started++;
	crew_work(&crew);
	while (started)
		pthread_join(threads[--started], NULL);
}
