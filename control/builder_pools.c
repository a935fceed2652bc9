/* SPDX-License-Identifier: BSD-2-Clause */
/* Pools and their tables: who is a member, which tables are as before, and making the others. */
#include "chash/chash.h"
#include "control/builder_parts.h"
#include "control/state.h"

#include <xxhash.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define DIGEST_CHUNK 65536

static uint64_t clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static char *name_copy(struct build_job *job, const char *text)
{
	return gw_arena_strndup(job->build->arena, text, strlen(text));
}

static int backends_make(
	struct build_job *job, const struct gw_config_pool *source, struct gw_build_pool *pool)
{
	struct gw_effect *effects = calloc(source->backend_count + 1, sizeof(*effects));

	pool->backends = gw_arena_alloc(
		job->build->arena, source->backend_count + 1, sizeof(*pool->backends));
	if (!effects || !pool->backends) {
		free(effects);
		return -ENOMEM;
	}
	gw_runtime_pool(job->input->runtime, source, job->input->now_ms, effects, &pool->effect);
	for (size_t i = 0; i < source->backend_count; i++) {
		const struct gw_config_backend *from = &source->backends[i];
		struct gw_build_backend *backend = &pool->backends[i];

		backend->name = name_copy(job, from->name);
		backend->key = name_copy(job, from->key);
		backend->id =
			gw_ids_backend(job->input->ids, source->name, from->name, from->address);
		backend->pool = (uint32_t)(pool - job->build->pools);
		memcpy(backend->address, from->address, 16);
		backend->effect = effects[i];
		if (!backend->name || !backend->key)
			break;
		pool->backend_count++;
	}
	free(effects);
	return pool->backend_count == source->backend_count ? 0 : -ENOMEM;
}

static int member_order(const void *a, const void *b, void *context)
{
	const struct gw_build_backend *backends = context;

	return strcmp(backends[*(const uint32_t *)a].key, backends[*(const uint32_t *)b].key);
}

/* Members in the order of their keys: the order of the table's indices. */
static int members_make(struct build_job *job, struct gw_build_pool *pool)
{
	uint32_t count = 0;

	pool->members =
		gw_arena_alloc(job->build->arena, pool->effect.members + 1, sizeof(*pool->members));
	if (!pool->members)
		return -ENOMEM;
	for (size_t i = 0; i < pool->backend_count; i++)
		if (pool->backends[i].effect.member)
			pool->members[count++] = (uint32_t)i;
	qsort_r(pool->members, count, sizeof(*pool->members), member_order, pool->backends);
	pool->member_count = count;
	return 0;
}

/* A table is a pure function of members, weights and size: equal ones, equal table. */
static bool table_as_before(const struct gw_build_pool *pool, const struct gw_build_pool *before)
{
	if (!before || before->table_size != pool->table_size ||
		before->member_count != pool->member_count)
		return false;
	for (uint32_t i = 0; i < pool->member_count; i++) {
		const struct gw_build_backend *is = &pool->backends[pool->members[i]];
		const struct gw_build_backend *was = &before->backends[before->members[i]];

		if (is->effect.weight != was->effect.weight || strcmp(is->key, was->key) != 0)
			return false;
	}
	return true;
}

static const struct gw_build_pool *pool_before(
	const struct build_job *job, const struct gw_build_pool *pool)
{
	return job->input->previous ? gw_build_pool_find(job->input->previous, pool->name) : NULL;
}

static int pool_make(
	struct build_job *job, const struct gw_config_pool *source, struct gw_build_pool *pool)
{
	pool->name = name_copy(job, source->name);
	pool->id = gw_ids_pool(job->input->ids, source->name);
	pool->table_size = source->table_size;
	pool->encap = (enum gw_encap)source->encap;
	pool->keep_on_down = source->keep_on_down;
	pool->gue_port = source->gue_port;
	pool->mtu = source->mtu;
	if (!pool->name || backends_make(job, source, pool) < 0 || members_make(job, pool) < 0)
		return build_fail(job, -ENOMEM, "no memory for pool %s", source->name);
	if (pool->id == GW_NONE)
		return build_fail(job, -EINVAL, "pool %s has no number", pool->name);
	for (size_t i = 0; i < pool->backend_count; i++)
		if (pool->backends[i].id == GW_NONE)
			return build_fail(job, -EINVAL, "backend %s/%s has no number", pool->name,
				pool->backends[i].name);
	pool->rebuilt = pool->member_count && !table_as_before(pool, pool_before(job, pool));
	return 0;
}

int build_pools(struct build_job *job)
{
	const struct gw_config *config = job->input->config;
	struct gw_build *build = job->build;

	build->pools = gw_arena_alloc(build->arena, config->pool_count + 1, sizeof(*build->pools));
	build->pools_by_name =
		gw_arena_alloc(build->arena, config->pool_count + 1, sizeof(*build->pools_by_name));
	if (!build->pools || !build->pools_by_name)
		return build_fail(job, -ENOMEM, "no memory for %zu pools", config->pool_count);
	build->pool_count = config->pool_count;
	for (size_t i = 0; i < config->pool_count; i++) {
		int status = pool_make(job, &config->pools[i], &build->pools[i]);

		if (status < 0)
			return status;
		build->rebuilt_count += build->pools[i].rebuilt;
		build->pools_by_name[i] = &build->pools[config->pools_by_name[i] - config->pools];
	}
	return 0;
}

/* The digest of design.md, "Versions". */
static int table_digest(const struct gw_build_pool *pool, struct gw_digest *digest)
{
	XXH3_state_t *state = XXH3_createState();
	char *chunk = malloc(DIGEST_CHUNK + GW_KEY_MAX + 1);
	const uint32_t size = pool->table_size;
	const uint8_t head[4] = {
		(uint8_t)size, (uint8_t)(size >> 8), (uint8_t)(size >> 16), (uint8_t)(size >> 24)};
	XXH128_canonical_t canonical;
	size_t used = 0;

	if (!state || !chunk) {
		XXH3_freeState(state);
		free(chunk);
		return -ENOMEM;
	}
	XXH3_128bits_reset(state);
	XXH3_128bits_update(state, head, sizeof(head));
	for (uint32_t slot = 0; slot < size; slot++) {
		const char *key = pool->backends[pool->members[pool->slots[slot]]].key;

		used = (size_t)(stpcpy(chunk + used, key) - chunk) + 1;
		if (used >= DIGEST_CHUNK) {
			XXH3_128bits_update(state, chunk, used);
			used = 0;
		}
	}
	XXH3_128bits_update(state, chunk, used);
	XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(state));
	memcpy(digest->bytes, canonical.digest, sizeof(digest->bytes));
	XXH3_freeState(state);
	free(chunk);
	return 0;
}

/* Fills the pool's place in the image. */
static int table_make(struct build_job *job, struct gw_build_pool *pool, uint16_t *slots)
{
	struct gw_chash_table_member *members = calloc(pool->member_count, sizeof(*members));
	struct gw_chash_table *table = NULL;
	int status;

	if (!members)
		return build_fail(job, -ENOMEM, "no memory for the table of pool %s", pool->name);
	for (uint32_t i = 0; i < pool->member_count; i++) {
		const struct gw_build_backend *backend = &pool->backends[pool->members[i]];

		members[i].key = backend->key;
		members[i].weight = backend->effect.weight;
	}
	status = gw_chash_table_build(members, pool->member_count, pool->table_size, &table);
	free(members);
	if (status == GW_CHASH_ERR_MEMORY)
		status = -ENOMEM;
	else if (status < 0 || !table->u16)
		return build_fail(job, -EINVAL, "pool %s: no table of %u slots for %u members: %s",
			pool->name, pool->table_size, pool->member_count,
			gw_chash_strerror(status));
	if (status < 0)
		return build_fail(job, status, "no memory for the table of pool %s", pool->name);
	/* members[] was in the order of keys already, so the table's indices are ours. */
	memcpy(slots, table->u16, pool->table_size * sizeof(*slots));
	gw_chash_table_free(table);
	return 0;
}

static void slots_count(struct gw_build_pool *pool)
{
	for (uint32_t slot = 0; slot < pool->table_size; slot++)
		pool->backends[pool->members[pool->slots[slot]]].slots++;
}

static void table_copy(
	struct gw_build_pool *pool, const struct gw_build_pool *before, uint16_t *slots)
{
	memcpy(slots, before->slots, pool->table_size * sizeof(*slots));
	pool->digest = before->digest;
	pool->table_version = before->table_version;
	for (uint32_t i = 0; i < pool->member_count; i++)
		pool->backends[pool->members[i]].slots = before->backends[before->members[i]].slots;
}

/* A table that comes out as it was keeps its version, over restarts too. */
static uint64_t version_choose(const struct build_job *job, const struct gw_build_pool *pool)
{
	const struct gw_build_pool *before = pool_before(job, pool);
	uint64_t version = 0;

	if (before && before->member_count &&
		!memcmp(&before->digest, &pool->digest, sizeof(pool->digest)))
		version = before->table_version;
	else if (!before && job->input->state)
		version = gw_state_table_version(job->input->state, pool->name, &pool->digest);
	return version ? version : job->input->version;
}

static int pool_table(struct build_job *job, struct gw_build_pool *pool, struct gw_pool *record)
{
	uint16_t *slots = (uint16_t *)((char *)job->image + record->table_offset);
	uint64_t start = clock_ns();
	int status;

	pool->slots = slots;
	if (!pool->rebuilt) {
		table_copy(pool, pool_before(job, pool), slots);
	} else {
		status = table_make(job, pool, slots);
		if (status < 0)
			return status;
		slots_count(pool);
		if (table_digest(pool, &pool->digest) < 0)
			return build_fail(
				job, -ENOMEM, "no memory for the digest of pool %s", pool->name);
		pool->table_version = version_choose(job, pool);
		pool->build_ns = clock_ns() - start;
	}
	record->digest = pool->digest;
	record->table_version = pool->table_version;
	return 0;
}

int build_tables(struct build_job *job)
{
	struct gw_pool *records = (struct gw_pool *)((char *)job->image + job->image->pools.offset);

	for (size_t i = 0; i < job->build->pool_count; i++) {
		struct gw_build_pool *pool = &job->build->pools[i];
		int status = pool->member_count ? pool_table(job, pool, &records[i]) : 0;

		if (status < 0)
			return status;
	}
	return 0;
}
