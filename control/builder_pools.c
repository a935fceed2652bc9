/* SPDX-License-Identifier: BSD-2-Clause */
/* Pools and their tables: who is a member, which tables are as before, and making the others. */
#include "chash/chash.h"
#include "control/builder_parts.h"
#include "control/state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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

		if ((uint64_t)is->effect.weight * before->effect.scale !=
				(uint64_t)was->effect.weight * pool->effect.scale ||
			strcmp(is->key, was->key) != 0)
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
	pool->base = source->base ? name_copy(job, source->base) : pool->name;
	pool->id = gw_ids_pool(job->input->ids, source->name);
	pool->table_size = source->table_size;
	pool->encap = (enum gw_encap)source->encap;
	pool->keep_on_down = source->keep_on_down;
	pool->gue_port = source->gue_port;
	pool->gue_checksum = source->gue_checksum;
	pool->entropy = source->entropy;
	pool->mtu = source->mtu;
	if (!pool->name || !pool->base || backends_make(job, source, pool) < 0 ||
		members_make(job, pool) < 0)
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

/* Consumes the reference. */
static void table_take(
	struct build_job *job, struct gw_build_pool *pool, struct gw_pool_table *table)
{
	job->tables[pool - job->build->pools] = table;
	pool->table = table;
	pool->slots = table->slots;
	pool->digest = table->digest;
	for (uint32_t i = 0; i < pool->member_count; i++)
		pool->backends[pool->members[i]].slots = table->counts[i];
}

static void table_share(struct build_job *job, struct gw_build_pool *pool)
{
	const struct gw_build_pool *before = pool_before(job, pool);
	size_t position = (size_t)(before - job->input->previous->pools);

	table_take(job, pool, gw_pool_table_ref(job->input->previous->snapshot->tables[position]));
	pool->table_version = before->table_version;
}

/* What the tables to be made are made of, and where they go. */
struct orders {
	struct gw_pool_table_order *list;
	struct gw_build_pool **pools; /* that of each order */
	struct gw_pool_table_member *members;
	size_t count;
};

static int orders_init(struct orders *orders, const struct gw_build *build)
{
	size_t members = 0;

	for (size_t i = 0; i < build->pool_count; i++)
		members += build->pools[i].rebuilt ? build->pools[i].member_count : 0;
	orders->list = calloc(build->rebuilt_count + 1, sizeof(*orders->list));
	orders->pools = calloc(build->rebuilt_count + 1, sizeof(*orders->pools));
	orders->members = calloc(members + 1, sizeof(*orders->members));
	return orders->list && orders->pools && orders->members ? 0 : -ENOMEM;
}

static void orders_fill(struct orders *orders, const struct gw_build *build)
{
	struct gw_pool_table_member *next = orders->members;

	for (size_t i = 0; i < build->pool_count; i++) {
		struct gw_build_pool *pool = &build->pools[i];

		if (!pool->rebuilt)
			continue;
		orders->pools[orders->count] = pool;
		orders->list[orders->count++] = (struct gw_pool_table_order){.members = next,
			.member_count = pool->member_count,
			.size = pool->table_size};
		for (uint32_t m = 0; m < pool->member_count; m++) {
			const struct gw_build_backend *backend = &pool->backends[pool->members[m]];

			*next++ =
				(struct gw_pool_table_member){backend->key, backend->effect.weight};
		}
	}
}

static int order_fail(struct build_job *job, const struct gw_build_pool *pool, int status)
{
	if (status == -ENOMEM)
		return build_fail(job, status, "no memory for the table of pool %s", pool->name);
	return build_fail(job, -EINVAL, "pool %s: no table of %u slots for %u members: %s",
		pool->name, pool->table_size, pool->member_count, gw_chash_strerror(status));
}

/* All are taken over, so that none is lost when one failed. */
static int orders_take(struct build_job *job, const struct orders *orders)
{
	int status = 0;

	for (size_t i = 0; i < orders->count; i++) {
		const struct gw_pool_table_order *order = &orders->list[i];
		struct gw_build_pool *pool = orders->pools[i];

		if (order->status < 0) {
			status = order_fail(job, pool, order->status);
			continue;
		}
		table_take(job, pool, order->table);
		pool->table_version = version_choose(job, pool);
		pool->build_ns = order->table->build_ns;
	}
	return status;
}

int build_tables(struct build_job *job)
{
	struct gw_build *build = job->build;
	struct orders orders = {0};
	int status;

	job->tables = calloc(build->pool_count + 1, sizeof(*job->tables));
	status = job->tables ? orders_init(&orders, build) : -ENOMEM;
	if (status < 0) {
		build_fail(job, status, "no memory for %zu tables", build->rebuilt_count);
	} else {
		orders_fill(&orders, build);
		gw_pool_tables_make(orders.list, orders.count);
		status = orders_take(job, &orders);
		for (size_t i = 0; i < build->pool_count; i++)
			if (build->pools[i].member_count && !build->pools[i].rebuilt)
				table_share(job, &build->pools[i]);
	}
	free(orders.list);
	free(orders.pools);
	free(orders.members);
	return status;
}
