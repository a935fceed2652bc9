/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One sorted array of (identity, number) for each kind. An assignment merges the configuration's
 * identities into a new array and swaps it in only when all three kinds succeeded.
 */
#include "control/ids.h"

#include "abi/flow_word.h"
#include "control/config_arena.h"

#include <jansson.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "pool/name@address": names hold neither '/' nor, behind the pool's, '@'. */
#define IDENTITY_MAX (GW_PART_MAX + GW_NAME_MAX + GW_ADDRESS_TEXT + 3)

struct id_row {
	const char *identity; /* in the space's arena */
	uint32_t id;
	bool used;
	int64_t freed_ms; /* when not used */
	int64_t hold_ms;  /* quarantine: the longest that was right since */
};

/* Rows sorted by identity. */
struct id_space {
	struct id_row *rows;
	size_t count;
	struct gw_arena *arena;
};

struct gw_ids {
	struct id_space space[GW_ID_KINDS];
};

static const struct {
	const char *name;
	uint32_t first;
	uint32_t end;
	bool reuse_early;
} kinds[GW_ID_KINDS] = {
	[GW_ID_POOL] = {"pools", 0, GW_MAX_POOLS, true},
	[GW_ID_SERVICE] = {"services", 0, GW_MAX_SERVICES, true},
	[GW_ID_BACKEND] = {"backends", 1, GW_MAX_BACKENDS, false},
};

static void space_clear(struct id_space *space)
{
	free(space->rows);
	gw_arena_free(space->arena);
	*space = (struct id_space){0};
}

static int space_new(struct id_space *space, size_t room)
{
	space->count = 0;
	space->rows = calloc(room ? room : 1, sizeof(*space->rows));
	space->arena = gw_arena_new();
	if (space->rows && space->arena)
		return 0;
	space_clear(space);
	return -ENOMEM;
}

static int space_add(struct id_space *space, const struct id_row *row)
{
	struct id_row *new_row = &space->rows[space->count];

	*new_row = *row;
	new_row->identity = gw_arena_strndup(space->arena, row->identity, strlen(row->identity));
	if (!new_row->identity)
		return -ENOMEM;
	space->count++;
	return 0;
}

static int row_order(const void *a, const void *b)
{
	const struct id_row *left = a, *right = b;

	return strcmp(left->identity, right->identity);
}

static const struct id_row *space_find(const struct id_space *space, const char *identity)
{
	struct id_row key = {.identity = identity};

	return space->count ? bsearch(&key, space->rows, space->count, sizeof(key), row_order)
			    : NULL;
}

struct gw_ids *gw_ids_new(void)
{
	return calloc(1, sizeof(struct gw_ids));
}

void gw_ids_free(struct gw_ids *ids)
{
	for (int kind = 0; ids && kind < GW_ID_KINDS; kind++)
		space_clear(&ids->space[kind]);
	free(ids);
}

struct gw_ids *gw_ids_clone(const struct gw_ids *ids)
{
	struct gw_ids *clone = gw_ids_new();

	for (int kind = 0; clone && kind < GW_ID_KINDS; kind++) {
		const struct id_space *from = &ids->space[kind];
		int status = space_new(&clone->space[kind], from->count);

		for (size_t i = 0; !status && i < from->count; i++)
			status = space_add(&clone->space[kind], &from->rows[i]);
		if (status < 0) {
			gw_ids_free(clone);
			return NULL;
		}
	}
	return clone;
}

/* Longest time after which no tracked flow can name a number that left the snapshot. */
static int64_t hold_time(const struct gw_config_timeouts *timeouts)
{
	uint32_t longest = timeouts->tcp_new;
	uint32_t others[] = {
		timeouts->tcp_established, timeouts->tcp_closing, timeouts->udp, timeouts->sctp};

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (others[i] > longest)
			longest = others[i];
	return ((int64_t)longest + GW_FLOW_SWEEP_INTERVAL) * 1000;
}

/* The configuration's identities of one kind, sorted, without numbers yet. */
static int wanted_collect(
	const struct gw_config *config, enum gw_id_kind kind, struct id_space *wanted)
{
	size_t room = kind == GW_ID_SERVICE ? config->service_count : config->pool_count;
	int status;

	if (kind == GW_ID_BACKEND) {
		room = 0;
		for (size_t p = 0; p < config->pool_count; p++)
			room += config->pools[p].backend_count;
	}
	status = space_new(wanted, room);
	if (kind == GW_ID_SERVICE)
		for (size_t i = 0; !status && i < room; i++)
			status = space_add(
				wanted, &(struct id_row){.identity = config->services[i].name});
	for (size_t p = 0; kind != GW_ID_SERVICE && !status && p < config->pool_count; p++) {
		const struct gw_config_pool *pool = &config->pools[p];

		if (kind == GW_ID_POOL)
			status = space_add(wanted, &(struct id_row){.identity = pool->name});
		for (size_t b = 0; kind == GW_ID_BACKEND && !status && b < pool->backend_count;
			b++) {
			char identity[IDENTITY_MAX], address[GW_ADDRESS_TEXT];

			snprintf(identity, sizeof(identity), "%s/%s@%s", pool->name,
				pool->backends[b].name,
				gw_address_format(pool->backends[b].address, address));
			status = space_add(wanted, &(struct id_row){.identity = identity});
		}
	}
	if (!status)
		qsort(wanted->rows, wanted->count, sizeof(*wanted->rows), row_order);
	return status;
}

/* What remains of a row that the configuration does not have; false: nothing. */
static bool row_retire(struct id_row *row, int64_t hold_ms, int64_t boot_ms, bool *changed)
{
	if (row->used) {
		row->used = false;
		row->freed_ms = boot_ms;
		row->hold_ms = 0;
		*changed = true;
	}
	if (row->hold_ms < hold_ms)
		row->hold_ms = hold_ms;
	if (boot_ms < row->freed_ms + row->hold_ms)
		return true;
	*changed = true;
	return false;
}

/* Merges old rows and wanted identities; new ones get GW_NONE. */
static int space_merge(const struct id_space *old, const struct id_space *wanted, int64_t hold_ms,
	int64_t boot_ms, struct id_space *next, bool *changed)
{
	int status = space_new(next, old->count + wanted->count);
	size_t o = 0, w = 0;

	while (!status && (o < old->count || w < wanted->count)) {
		int order = o == old->count	 ? 1
			    : w == wanted->count ? -1
						 : row_order(&old->rows[o], &wanted->rows[w]);
		struct id_row row = order <= 0 ? old->rows[o++] : wanted->rows[w];

		if (order < 0 && !row_retire(&row, hold_ms, boot_ms, changed))
			continue;
		if (order > 0)
			row.id = GW_NONE;
		if (order >= 0) {
			w++;
			*changed |= !row.used;
			row.used = true;
		}
		status = space_add(next, &row);
	}
	return status;
}

/*
 * Takes the number of the row freed longest ago; the row goes, and *at, a position in the array,
 * keeps naming its row. GW_NONE: there is none.
 */
static uint32_t space_steal(struct id_space *space, size_t *at)
{
	size_t oldest = space->count;
	uint32_t id;

	for (size_t i = 0; i < space->count; i++)
		if (!space->rows[i].used &&
			(oldest == space->count ||
				space->rows[i].freed_ms < space->rows[oldest].freed_ms))
			oldest = i;
	if (oldest == space->count)
		return GW_NONE;
	id = space->rows[oldest].id;
	memmove(&space->rows[oldest], &space->rows[oldest + 1],
		(space->count - oldest - 1) * sizeof(*space->rows));
	space->count--;
	*at -= oldest < *at;
	return id;
}

/* Lowest free numbers first, so that arrays by number stay short. */
static int space_number(struct id_space *space, enum gw_id_kind kind)
{
	uint32_t next = kinds[kind].first, end = kinds[kind].end;
	bool *taken = calloc(end, sizeof(*taken));
	size_t i;

	if (!taken)
		return -ENOMEM;
	for (i = 0; i < space->count; i++)
		if (space->rows[i].id != GW_NONE)
			taken[space->rows[i].id] = true;
	for (i = 0; i < space->count; i++) {
		uint32_t id;

		if (space->rows[i].id != GW_NONE)
			continue;
		while (next < end && taken[next])
			next++;
		id = next < end		       ? next++
		     : kinds[kind].reuse_early ? space_steal(space, &i)
					       : GW_NONE;
		if (id == GW_NONE) {
			free(taken);
			return -ENOSPC;
		}
		space->rows[i].id = id;
	}
	free(taken);
	return 0;
}

static int space_assign(const struct id_space *old, const struct gw_config *config,
	enum gw_id_kind kind, int64_t boot_ms, struct id_space *next, bool *changed)
{
	struct id_space wanted = {0};
	int status = wanted_collect(config, kind, &wanted);

	if (!status)
		status = space_merge(
			old, &wanted, hold_time(&config->timeouts), boot_ms, next, changed);
	if (!status)
		status = space_number(next, kind);
	space_clear(&wanted);
	return status;
}

int gw_ids_assign(
	struct gw_ids *ids, const struct gw_config *config, int64_t boot_ms, bool *changed)
{
	struct id_space next[GW_ID_KINDS] = {0};
	bool any = false;
	int status = 0;

	for (int kind = 0; !status && kind < GW_ID_KINDS; kind++)
		status = space_assign(&ids->space[kind], config, kind, boot_ms, &next[kind], &any);
	for (int kind = 0; kind < GW_ID_KINDS; kind++) {
		space_clear(status ? &next[kind] : &ids->space[kind]);
		if (!status)
			ids->space[kind] = next[kind];
	}
	if (!status && changed)
		*changed = any;
	return status;
}

static uint32_t id_of(const struct id_space *space, const char *identity)
{
	const struct id_row *row = space_find(space, identity);

	return row && row->used ? row->id : GW_NONE;
}

uint32_t gw_ids_pool(const struct gw_ids *ids, const char *name)
{
	return id_of(&ids->space[GW_ID_POOL], name);
}

uint32_t gw_ids_service(const struct gw_ids *ids, const char *name)
{
	return id_of(&ids->space[GW_ID_SERVICE], name);
}

uint32_t gw_ids_backend(const struct gw_ids *ids, const char *pool, const char *name,
	const uint8_t address[static 16])
{
	char identity[IDENTITY_MAX], text[GW_ADDRESS_TEXT];

	snprintf(identity, sizeof(identity), "%s/%s@%s", pool, name,
		gw_address_format(address, text));
	return id_of(&ids->space[GW_ID_BACKEND], identity);
}

static size_t space_count(const struct id_space *space, bool used)
{
	size_t count = 0;

	for (size_t i = 0; i < space->count; i++)
		count += space->rows[i].used == used;
	return count;
}

size_t gw_ids_used(const struct gw_ids *ids, enum gw_id_kind kind)
{
	return space_count(&ids->space[kind], true);
}

size_t gw_ids_quarantined(const struct gw_ids *ids, enum gw_id_kind kind)
{
	return space_count(&ids->space[kind], false);
}

static json_t *space_dump(const struct id_space *space)
{
	json_t *array = json_array();

	for (size_t i = 0; array && i < space->count; i++) {
		const struct id_row *row = &space->rows[i];
		json_t *object = json_pack(
			"{s:s,s:I}", "identity", row->identity, "id", (json_int_t)row->id);
		int status = object ? 0 : -1;

		if (!status && !row->used)
			status = json_object_set_new(object, "freed", json_integer(row->freed_ms)) |
				 json_object_set_new(object, "hold", json_integer(row->hold_ms));
		if (!status)
			status = json_array_append(array, object);
		json_decref(object);
		if (status < 0) {
			json_decref(array);
			return NULL;
		}
	}
	return array;
}

json_t *gw_ids_dump(const struct gw_ids *ids)
{
	json_t *object = json_object();

	for (int kind = 0; object && kind < GW_ID_KINDS; kind++) {
		if (json_object_set_new(object, kinds[kind].name, space_dump(&ids->space[kind])) <
			0) {
			json_decref(object);
			return NULL;
		}
	}
	return object;
}

static int row_load(json_t *object, enum gw_id_kind kind, struct id_row *row)
{
	json_int_t id, freed = -1, hold = -1;

	if (json_unpack(object, "{s:s,s:I,s?I,s?I}", "identity", &row->identity, "id", &id, "freed",
		    &freed, "hold", &hold) < 0)
		return -EINVAL;
	if (id < kinds[kind].first || id >= kinds[kind].end || (freed < 0) != (hold < 0))
		return -EINVAL;
	row->id = (uint32_t)id;
	row->used = freed < 0;
	row->freed_ms = row->used ? 0 : freed;
	row->hold_ms = row->used ? 0 : hold;
	return 0;
}

/* Two rows of one identity or one number would send a flow to a stranger. */
static int space_check(const struct id_space *space, enum gw_id_kind kind)
{
	bool *taken = calloc(kinds[kind].end, sizeof(*taken));
	int status = taken ? 0 : -ENOMEM;

	for (size_t i = 0; !status && i < space->count; i++) {
		if (taken[space->rows[i].id] ||
			(i && !row_order(&space->rows[i - 1], &space->rows[i])))
			status = -EINVAL;
		taken[space->rows[i].id] = true;
	}
	free(taken);
	return status;
}

static int space_load(
	const json_t *array, enum gw_id_kind kind, bool keep_quarantine, struct id_space *next)
{
	int status = json_is_array(array) ? space_new(next, json_array_size(array)) : -EINVAL;

	for (size_t i = 0; !status && i < json_array_size(array); i++) {
		struct id_row row;

		status = row_load(json_array_get(array, i), kind, &row);
		if (!status && (row.used || keep_quarantine))
			status = space_add(next, &row);
	}
	if (status)
		return status;
	qsort(next->rows, next->count, sizeof(*next->rows), row_order);
	return space_check(next, kind);
}

int gw_ids_load(struct gw_ids *ids, const json_t *json, bool keep_quarantine)
{
	struct id_space next[GW_ID_KINDS] = {0};
	int status = 0;

	for (int kind = 0; !status && kind < GW_ID_KINDS; kind++)
		status = space_load(json_object_get(json, kinds[kind].name), kind, keep_quarantine,
			&next[kind]);
	for (int kind = 0; kind < GW_ID_KINDS; kind++) {
		space_clear(status ? &next[kind] : &ids->space[kind]);
		if (!status)
			ids->space[kind] = next[kind];
	}
	return status;
}
