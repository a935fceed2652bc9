/* SPDX-License-Identifier: BSD-2-Clause */
/* A Maglev table alone, without a handle: what the load balancer's control process builds. */
#include "chash/chash.h"
#include "chash/id.h"
#include "chash/maglev_fill.h"
#include "chash/prime.h"

#include <stdlib.h>

int gw_chash_table_size_check(uint64_t size)
{
	if (size < 2 || size > GW_CHASH_TABLE_MAX)
		return GW_CHASH_ERR_SIZE;
	return prime_check(size) ? 0 : GW_CHASH_ERR_NOT_PRIME;
}

/* Fills refs[count] in sorted order; tells how many members have weight. */
static int members_sort(const struct gw_chash_table_member *members, uint32_t count,
	struct id_ref *refs, uint32_t *weighted)
{
	uint64_t sum = 0;

	*weighted = 0;
	for (uint32_t i = 0; i < count; i++) {
		int status = id_check(members[i].key, &refs[i].length);

		if (status < 0)
			return status;
		refs[i].id = members[i].key;
		refs[i].index = i;
		sum += members[i].weight;
		*weighted += members[i].weight > 0;
	}
	id_sort(refs, count);
	for (uint32_t i = 1; i < count; i++)
		if (!id_compare(refs[i - 1].id, refs[i - 1].length, refs[i].id, refs[i].length))
			return GW_CHASH_ERR_DUPLICATE;
	if (sum > UINT32_MAX)
		return GW_CHASH_ERR_WEIGHT_SUM;
	return *weighted ? 0 : GW_CHASH_ERR_ALL_ZERO;
}

static int table_fill(struct gw_chash_table *table, const struct gw_chash_table_member *members,
	const struct id_ref *refs, uint32_t weighted)
{
	struct maglev_slots slots = {table->u16, table->u32, table->size};
	struct maglev_turn *turns = malloc(weighted * sizeof(*turns));
	uint32_t next = 0;
	int status;

	if (!turns)
		return GW_CHASH_ERR_MEMORY;
	for (uint32_t i = 0; i < table->count; i++) {
		uint32_t weight = members[refs[i].index].weight;

		table->order[i] = refs[i].index;
		if (!weight)
			continue;
		maglev_turn_init(&turns[next], refs[i].id, refs[i].length, table->size);
		turns[next].member = i;
		turns[next++].weight = weight;
	}
	status = maglev_fill(turns, next, &slots);
	free(turns);
	return status;
}

static struct gw_chash_table *table_new(uint32_t count, uint32_t size)
{
	struct gw_chash_table *table = calloc(1, sizeof(*table));

	if (!table)
		return NULL;
	table->size = size;
	table->count = count;
	table->order = malloc(count * sizeof(*table->order));
	if (count <= UINT16_MAX)
		table->u16 = malloc(size * sizeof(*table->u16));
	else
		table->u32 = malloc(size * sizeof(*table->u32));
	if (table->order && (table->u16 || table->u32))
		return table;
	gw_chash_table_free(table);
	return NULL;
}

int gw_chash_table_build(const struct gw_chash_table_member *members, uint32_t count, uint64_t size,
	struct gw_chash_table **table)
{
	struct gw_chash_table *built = NULL;
	struct id_ref *refs = NULL;
	uint32_t weighted;
	int status;

	if (!table || (!members && count))
		return GW_CHASH_ERR_ARGUMENT;
	status = gw_chash_table_size_check(size);
	if (status < 0)
		return status;
	if (!count)
		return GW_CHASH_ERR_EMPTY;
	refs = malloc(count * sizeof(*refs));
	built = table_new(count, (uint32_t)size);
	status = refs && built ? 0 : GW_CHASH_ERR_MEMORY;
	if (!status)
		status = members_sort(members, count, refs, &weighted);
	if (!status && weighted > size)
		status = GW_CHASH_ERR_SLOTS;
	if (!status)
		status = table_fill(built, members, refs, weighted);
	free(refs);
	if (status < 0)
		gw_chash_table_free(built);
	else
		*table = built;
	return status;
}

void gw_chash_table_free(struct gw_chash_table *table)
{
	if (!table)
		return;
	free(table->order);
	free(table->u16);
	free(table->u32);
	free(table);
}
