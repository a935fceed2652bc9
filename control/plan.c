/* SPDX-License-Identifier: BSD-2-Clause */
#include "control/plan.h"

#include "base/address.h"

#include <stdlib.h>
#include <string.h>

/* One backend of either side, told apart by address. */
struct plan_row {
	const struct gw_build_backend *before; /* NULL: not there */
	const struct gw_build_backend *after;
};

/* Two sides of one service or pool; a side is NULL when it does not exist. */
struct plan_pair {
	const struct gw_build_pool *before;
	const struct gw_build_pool *after;
	bool same_hash; /* a flow's hash is the same on both sides */
	struct plan_row *rows;
	size_t row_count;
	uint32_t *row_before; /* by position in before->backends */
	uint32_t *row_after;
};

static int backend_order(const void *a, const void *b)
{
	const struct gw_build_backend *const *left = a, *const *right = b;

	return memcmp((*left)->address, (*right)->address, 16);
}

static const struct gw_build_backend **backends_sorted(const struct gw_build_pool *pool)
{
	const struct gw_build_backend **list = calloc(pool->backend_count + 1, sizeof(*list));

	if (!list)
		return NULL;
	for (size_t i = 0; i < pool->backend_count; i++)
		list[i] = &pool->backends[i];
	qsort(list, pool->backend_count, sizeof(*list), backend_order);
	return list;
}

static size_t backend_count(const struct gw_build_pool *pool)
{
	return pool ? pool->backend_count : 0;
}

static void pair_clear(struct plan_pair *pair)
{
	free(pair->rows);
	free(pair->row_before);
	free(pair->row_after);
}

/* Rows: those of after in the file's order, then what only before has. */
static int pair_make(struct plan_pair *pair)
{
	size_t before = backend_count(pair->before), after = backend_count(pair->after);
	const struct gw_build_backend **sorted = NULL;

	pair->rows = calloc(before + after + 1, sizeof(*pair->rows));
	pair->row_before = calloc(before + 1, sizeof(*pair->row_before));
	pair->row_after = calloc(after + 1, sizeof(*pair->row_after));
	if (pair->after)
		sorted = backends_sorted(pair->after);
	if (!pair->rows || !pair->row_before || !pair->row_after || (pair->after && !sorted)) {
		free(sorted);
		return -1;
	}
	for (size_t i = 0; i < after; i++) {
		pair->row_after[i] = (uint32_t)i;
		pair->rows[i].after = &pair->after->backends[i];
	}
	pair->row_count = after;
	for (size_t i = 0; i < before; i++) {
		const struct gw_build_backend *backend = &pair->before->backends[i];
		const struct gw_build_backend **found =
			after ? bsearch(&backend, sorted, after, sizeof(*sorted), backend_order)
			      : NULL;
		size_t row = found ? (size_t)(*found - pair->after->backends) : pair->row_count++;

		pair->row_before[i] = (uint32_t)row;
		pair->rows[row].before = backend;
	}
	free(sorted);
	return 0;
}

static uint32_t table_size(const struct gw_build_pool *pool)
{
	return pool && pool->member_count ? pool->table_size : 0;
}

static double slot_share(const struct gw_build_pool *pool, const struct gw_build_backend *backend)
{
	return backend && table_size(pool) ? (double)backend->slots / pool->table_size : 0;
}

/* Slot by slot; only with tables of one size and one hash. */
/*
 * Two tables with one digest have the same slots, whoever the members' addresses are: then what
 * moves is the slots of members that are at another address now.
 */
static double moved_by_members(const struct plan_pair *pair)
{
	const struct gw_build_pool *before = pair->before, *after = pair->after;
	uint64_t moved = 0;

	for (uint32_t i = 0; i < before->member_count; i++)
		if (pair->row_before[before->members[i]] != pair->row_after[after->members[i]])
			moved += before->backends[before->members[i]].slots;
	return (double)moved / before->table_size;
}

static double moved_by_slots(const struct plan_pair *pair)
{
	const struct gw_build_pool *before = pair->before, *after = pair->after;
	uint32_t moved = 0;

	for (uint32_t slot = 0; slot < before->table_size; slot++)
		moved += pair->row_before[before->members[before->slots[slot]]] !=
			 pair->row_after[after->members[after->slots[slot]]];
	return (double)moved / before->table_size;
}

static double pair_moved(const struct plan_pair *pair)
{
	double stay = 0;

	if (!table_size(pair->before))
		return 0;
	if (table_size(pair->before) == table_size(pair->after) && pair->same_hash)
		return memcmp(&pair->before->digest, &pair->after->digest,
			       sizeof(pair->before->digest))
			       ? moved_by_slots(pair)
			       : moved_by_members(pair);
	for (size_t i = 0; i < pair->row_count; i++)
		stay += slot_share(pair->before, pair->rows[i].before) *
			slot_share(pair->after, pair->rows[i].after);
	return 1 - stay;
}

static double weight_sum(const struct gw_build_pool *pool)
{
	double sum = 0;

	for (size_t i = 0; i < backend_count(pool); i++)
		sum += pool->backends[i].effect.weight;
	return sum;
}

static double weight_share(const struct gw_build_backend *backend, double sum)
{
	return backend && sum > 0 ? backend->effect.weight / sum : 0;
}

static double pair_ideal(const struct plan_pair *pair)
{
	double before = weight_sum(pair->before), after = weight_sum(pair->after), ideal = 0;

	for (size_t i = 0; i < pair->row_count; i++) {
		double lost = weight_share(pair->rows[i].before, before) -
			      weight_share(pair->rows[i].after, after);

		ideal += lost > 0 ? lost : 0;
	}
	return ideal;
}

static json_t *row_json(const struct plan_pair *pair, const struct plan_row *row)
{
	const struct gw_build_backend *any = row->after ? row->after : row->before;
	uint32_t before = row->before ? row->before->slots : 0;
	uint32_t after = row->after ? row->after->slots : 0;
	char address[GW_ADDRESS_TEXT];

	if (!any)
		return NULL; /* a row has at least one side */
	return json_pack("{s:s,s:s,s:I,s:I,s:f,s:f}", "name", any->name, "address",
		gw_address_format(any->address, address), "slots_before", (json_int_t)before,
		"slots_after", (json_int_t)after, "share_before",
		before ? (double)before / pair->before->table_size : 0, "share_after",
		after ? (double)after / pair->after->table_size : 0);
}

static json_t *pair_backends(const struct plan_pair *pair)
{
	json_t *array = json_array();

	for (size_t i = 0; array && i < pair->row_count; i++) {
		if (json_array_append_new(array, row_json(pair, &pair->rows[i])) < 0) {
			json_decref(array);
			return NULL;
		}
	}
	return array;
}

static const struct gw_build_pool *service_pool(
	const struct gw_build *build, const struct gw_build_service *service)
{
	return service ? &build->pools[service->pool] : NULL;
}

/* One service of either side, or both. */
static json_t *service_json(const struct gw_build *before, const struct gw_build_service *was,
	const struct gw_build *after, const struct gw_build_service *is)
{
	struct plan_pair pair = {
		.before = service_pool(before, was), .after = service_pool(after, is)};
	const char *change = !was ? "added" : !is ? "removed" : "none";
	json_t *object = NULL;
	double moved;

	pair.same_hash =
		was && is && was->affinity == is->affinity && before->hash_seed == after->hash_seed;
	if (pair_make(&pair) == 0) {
		moved = pair_moved(&pair);
		if (was && is &&
			(moved > 0 || strcmp(pair.before->name, pair.after->name) != 0 ||
				memcmp(&pair.before->digest, &pair.after->digest,
					sizeof(struct gw_digest)) != 0))
			change = "changed";
		object = json_pack("{s:s,s:s,s:s,s:f,s:f,s:o}", "service",
			is ? is->name : was->name, "change", change, "pool",
			is ? pair.after->name : pair.before->name, "moved_share", moved,
			"ideal_share", pair_ideal(&pair), "per_backend", pair_backends(&pair));
	}
	pair_clear(&pair);
	return object;
}

json_t *gw_plan_json(const struct gw_build *before, const struct gw_build *after)
{
	json_t *services = json_array();
	size_t b = 0, a = 0;
	int status = services ? 0 : -1;

	while (!status && (b < before->service_count || a < after->service_count)) {
		const struct gw_build_service *was =
			b < before->service_count ? before->services_by_name[b] : NULL;
		const struct gw_build_service *is =
			a < after->service_count ? after->services_by_name[a] : NULL;
		int order = !was ? 1 : !is ? -1 : strcmp(was->name, is->name);

		if (order > 0)
			was = NULL;
		if (order < 0)
			is = NULL;
		b += was != NULL;
		a += is != NULL;
		status = json_array_append_new(services, service_json(before, was, after, is));
	}
	if (status < 0) {
		json_decref(services);
		return NULL;
	}
	return json_pack("{s:o}", "services", services);
}

json_t *gw_table_diff_json(const struct gw_build_pool *before, const struct gw_build_pool *after)
{
	struct plan_pair pair = {.before = before, .after = after, .same_hash = true};
	char digest_before[33], digest_after[33];
	json_t *object = NULL;

	if (pair_make(&pair) == 0)
		object = json_pack("{s:s,s:I,s:I,s:s,s:s,s:f,s:f,s:o}", "pool", after->name,
			"size_before", (json_int_t)before->table_size, "size_after",
			(json_int_t)after->table_size, "digest_before",
			gw_digest_format(&before->digest, digest_before), "digest_after",
			gw_digest_format(&after->digest, digest_after), "moved_share",
			pair_moved(&pair), "ideal_share", pair_ideal(&pair), "per_backend",
			pair_backends(&pair));
	pair_clear(&pair);
	return object;
}

static int table_backend_add(
	json_t *array, const struct gw_build_pool *pool, const struct gw_build_backend *backend)
{
	char address[GW_ADDRESS_TEXT];

	return json_array_append_new(array,
		json_pack("{s:s,s:s,s:s,s:s,s:I,s:I,s:f}", "name", backend->name, "address",
			gw_address_format(backend->address, address), "key", backend->key, "state",
			gw_backend_state_name(backend->effect.state), "weight",
			(json_int_t)(backend->effect.member ? backend->effect.base_weight : 0),
			"slots", (json_int_t)backend->slots, "share", slot_share(pool, backend)));
}

/* Members in the table's order, so that a slot's number is a position here; then the others. */
static json_t *table_backends(const struct gw_build_pool *pool)
{
	json_t *array = json_array();
	int status = array ? 0 : -1;

	for (uint32_t i = 0; !status && i < pool->member_count; i++)
		status = table_backend_add(array, pool, &pool->backends[pool->members[i]]);
	for (size_t i = 0; !status && i < pool->backend_count; i++)
		if (!pool->backends[i].effect.member)
			status = table_backend_add(array, pool, &pool->backends[i]);
	if (!status)
		return array;
	json_decref(array);
	return NULL;
}

static json_t *table_slots(const struct gw_build_pool *pool)
{
	json_t *array = json_array();

	for (uint32_t slot = 0; array && slot < table_size(pool); slot++) {
		if (json_array_append_new(array, json_integer(pool->slots[slot])) < 0) {
			json_decref(array);
			return NULL;
		}
	}
	return array;
}

json_t *gw_table_json(const struct gw_build *build, const struct gw_build_pool *pool, bool full)
{
	char digest[33];
	json_t *object = json_pack("{s:s,s:I,s:s,s:I,s:I,s:o}", "pool", pool->name, "size",
		(json_int_t)pool->table_size, "digest", gw_digest_format(&pool->digest, digest),
		"table_version", (json_int_t)pool->table_version, "version",
		(json_int_t)build->version, "backends", table_backends(pool));

	if (!object || !full)
		return object;
	if (json_object_set_new(object, "slots", table_slots(pool)) < 0) {
		json_decref(object);
		return NULL;
	}
	return object;
}
