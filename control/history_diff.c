/* SPDX-License-Identifier: BSD-2-Clause */
/* Two versions as two builds, with tables only where they differ. */
#include "control/history_parts.h"
#include "control/plan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A version made into what plan.c reads. */
struct side {
	struct gw_build build;
	struct gw_pool_table **tables; /* by position of the pool; NULL where none was needed */
	const struct history_version *version;
};

static void side_clear(struct side *side)
{
	for (size_t i = 0; side->tables && side->build.pools && i < side->version->pool_count;
		i++) {
		gw_pool_table_unref(side->tables[i]);
		free(side->build.pools[i].backends);
		free(side->build.pools[i].members);
	}
	free(side->tables);
	free(side->build.pools);
	free(side->build.services);
	free(side->build.services_by_name);
}

static int pool_expand(
	const struct history_pool *note, struct gw_build_pool *pool, uint32_t position)
{
	pool->name = note->name;
	pool->table_size = note->table_size;
	pool->member_count = note->member_count;
	pool->backend_count = note->member_count;
	pool->digest = note->digest;
	pool->table_version = note->table_version;
	pool->backends = calloc(note->member_count + 1, sizeof(*pool->backends));
	pool->members = calloc(note->member_count + 1, sizeof(*pool->members));
	if (!pool->backends || !pool->members)
		return -ENOMEM;
	for (uint32_t i = 0; i < note->member_count; i++) {
		const struct history_member *member = &note->members[i];

		pool->members[i] = i;
		pool->backends[i] = (struct gw_build_backend){.name = member->name,
			.key = member->key,
			.pool = position,
			.slots = member->slots,
			.effect = {.state = GW_BACKEND_ACTIVE,
				.member = true,
				.weight = member->weight,
				.base_weight = member->weight,
				.health = GW_HEALTH_UP}};
		memcpy(pool->backends[i].address, member->address, sizeof(member->address));
	}
	return 0;
}

static int side_make(struct side *side, const struct history_version *version)
{
	size_t services = version->services->count;
	struct gw_build *build = &side->build;

	side->version = version;
	build->version = version->version;
	build->hash_seed = version->hash_seed;
	build->pools = calloc(version->pool_count + 1, sizeof(*build->pools));
	side->tables = calloc(version->pool_count + 1, sizeof(*side->tables));
	build->services = calloc(services + 1, sizeof(*build->services));
	build->services_by_name = calloc(services + 1, sizeof(*build->services_by_name));
	if (!build->pools || !side->tables || !build->services || !build->services_by_name)
		return -ENOMEM;
	for (size_t i = 0; i < version->pool_count; i++)
		if (pool_expand(version->pools[i], &build->pools[i], (uint32_t)i) < 0)
			return -ENOMEM;
	build->pool_count = version->pool_count;
	for (size_t i = 0; i < services; i++) {
		const struct history_service *service = &version->services->list[i];

		build->services[i] = (struct gw_build_service){.name = service->name,
			.pool = service->pool,
			.affinity = service->affinity};
		build->services_by_name[i] = &build->services[i];
	}
	build->service_count = services;
	return 0;
}

/* The slots of one pool, if they are not there yet. */
static int table_need(struct side *side, uint32_t position)
{
	const struct history_pool *note = side->version->pools[position];
	struct gw_pool_table_order order = {
		.member_count = note->member_count, .size = note->table_size};
	struct gw_pool_table_member *members;

	if (side->tables[position] || !note->member_count)
		return 0;
	members = calloc(note->member_count, sizeof(*members));
	if (!members)
		return -ENOMEM;
	for (uint32_t i = 0; i < note->member_count; i++)
		members[i] = (struct gw_pool_table_member){
			note->members[i].key, note->members[i].weight};
	order.members = members;
	gw_pool_table_make(&order);
	free(members);
	if (order.status < 0)
		return -ENOMEM;
	side->tables[position] = order.table;
	side->build.pools[position].slots = order.table->slots;
	return 0;
}

/* Tables of the services that both have, where their pools' tables are not the same. */
static int tables_make(struct side *before, struct side *after)
{
	const struct history_services *was = before->version->services;
	const struct history_services *is = after->version->services;
	int status = 0;

	for (size_t b = 0, a = 0; !status && b < was->count && a < is->count;) {
		int order = strcmp(was->list[b].name, is->list[a].name);
		uint32_t from = was->list[b].pool, to = is->list[a].pool;

		if (!order &&
			memcmp(&before->version->pools[from]->digest,
				&after->version->pools[to]->digest, sizeof(struct gw_digest))) {
			status = table_need(before, from);
			if (!status)
				status = table_need(after, to);
		}
		b += order <= 0;
		a += order >= 0;
	}
	return status;
}

static const struct history_version *version_find(
	const struct gw_history *history, uint64_t version)
{
	for (size_t i = 0; i < history->count; i++)
		if (history_at(history, i)->version == version)
			return history_at(history, i);
	return NULL;
}

json_t *gw_history_diff(const struct gw_history *history, uint64_t from, uint64_t to, int *status,
	uint64_t *missing)
{
	const struct history_version *was = version_find(history, from);
	const struct history_version *is = version_find(history, to);
	struct side before = {0}, after = {0};
	json_t *diff = NULL;

	if (!was || !is) {
		*missing = was ? to : from;
		*status = -ENOENT;
		return NULL;
	}
	if (!side_make(&before, was) && !side_make(&after, is) && !tables_make(&before, &after))
		diff = gw_plan_json(&before.build, &after.build);
	if (diff) {
		json_object_set_new(diff, "from", json_integer((json_int_t)from));
		json_object_set_new(diff, "to", json_integer((json_int_t)to));
	}
	side_clear(&before);
	side_clear(&after);
	*status = diff ? 0 : -ENOMEM;
	return diff;
}
