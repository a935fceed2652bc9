/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/paths.h"

#include "abi/encap.h"

#include <stdlib.h>
#include <string.h>

#define NOBODY 0xff

/* Who a way is, whatever its link-layer address. */
struct way_name {
	uint8_t gateway[16];
	uint32_t ifindex;
	uint16_t vlan;
	uint16_t weight;
};

struct record {
	uint32_t references;
	uint32_t count; /* ways */
	uint64_t freed; /* when, in drops of the table; 0: never used */
	bool reserved;
	uint8_t kind;
	uint8_t home[GW_PATH_BUCKETS]; /* index of the way */
	uint8_t lent[GW_PATH_BUCKETS]; /* who has it now; NOBODY: no way is usable */
	struct way_name way[GW_WAYS_MAX];
};

struct gw_path_table {
	struct gw_paths *live;
	uint64_t drops;
	struct record record[GW_MAX_PATHS];
};

struct gw_path_table *gw_path_table_new(struct gw_paths *live)
{
	struct gw_path_table *table = calloc(1, sizeof(*table));

	if (table)
		table->live = live;
	return table;
}

void gw_path_table_free(struct gw_path_table *table)
{
	free(table);
}

void gw_path_table_reserve(struct gw_path_table *table, uint32_t record)
{
	if (record < GW_MAX_PATHS && !table->record[record].references)
		table->record[record].reserved = true;
}

static struct way_name name_of(const struct gw_way *way)
{
	struct way_name name = {.ifindex = way->ifindex, .vlan = way->vlan, .weight = way->weight};

	memcpy(name.gateway, way->gateway, sizeof(name.gateway));
	return name;
}

/* The same way, whatever its weight. */
static bool way_equal(const struct way_name *a, const struct way_name *b)
{
	return a->ifindex == b->ifindex && a->vlan == b->vlan &&
	       !memcmp(a->gateway, b->gateway, sizeof(a->gateway));
}

static bool record_is(
	const struct record *record, const struct gw_way *ways, uint32_t count, uint8_t kind)
{
	if (record->count != count || record->kind != kind)
		return false;
	for (uint32_t i = 0; i < count; i++) {
		struct way_name name = name_of(&ways[i]);

		if (record->way[i].weight != name.weight || !way_equal(&record->way[i], &name))
			return false;
	}
	return true;
}

/*
 * Each way's number of buckets: one for everyone, the others one by one to the way with the largest
 * weight / (buckets + 1), Jefferson's method of apportionment.
 */
static void quotas_make(const struct record *record, uint8_t quota[static GW_WAYS_MAX])
{
	for (uint32_t i = 0; i < record->count; i++)
		quota[i] = 1;
	for (uint32_t given = record->count; given < GW_PATH_BUCKETS; given++) {
		uint32_t best = 0;

		for (uint32_t i = 1; i < record->count; i++)
			if (record->way[i].weight * (quota[best] + 1u) >
				record->way[best].weight * (quota[i] + 1u))
				best = i;
		quota[best]++;
	}
}

/* Homes by quota; `wish` has who should keep each bucket, NOBODY for whoever. */
static void homes_make(struct record *record, const uint8_t wish[static GW_PATH_BUCKETS])
{
	uint8_t quota[GW_WAYS_MAX];
	uint32_t next = 0;

	quotas_make(record, quota);
	memset(record->home, NOBODY, sizeof(record->home));
	for (uint32_t b = 0; b < GW_PATH_BUCKETS; b++) {
		if (wish[b] == NOBODY || !quota[wish[b]])
			continue;
		record->home[b] = wish[b];
		quota[wish[b]]--;
	}
	for (uint32_t b = 0; b < GW_PATH_BUCKETS; b++) {
		if (record->home[b] != NOBODY)
			continue;
		while (!quota[next % record->count])
			next++;
		record->home[b] = (uint8_t)(next % record->count);
		quota[next++ % record->count]--;
	}
}

/* Who had each bucket in another record, by this one's ways. */
static void wish_from_record(const struct record *record, const struct record *other,
	uint8_t wish[static GW_PATH_BUCKETS])
{
	for (uint32_t b = 0; b < GW_PATH_BUCKETS; b++)
		for (uint32_t i = 0; i < record->count; i++)
			if (way_equal(&record->way[i], &other->way[other->home[b]]))
				wish[b] = (uint8_t)i;
}

/* Who has each bucket according to live links, which an earlier process wrote. */
static void wish_from_links(const struct record *record, const struct gw_paths *live,
	const struct gw_link *links, uint8_t wish[static GW_PATH_BUCKETS])
{
	for (uint32_t b = 0; b < GW_PATH_BUCKETS; b++)
		for (uint32_t i = 0; i < record->count; i++)
			if (links[i].flags && !memcmp(&live->link[b], &links[i], sizeof(links[i])))
				wish[b] = (uint8_t)i;
}

static uint32_t buckets_of(const struct record *record, uint32_t way)
{
	uint32_t count = 0;

	for (uint32_t b = 0; b < GW_PATH_BUCKETS; b++)
		count += record->lent[b] == way;
	return count;
}

/* The usable way that has least for its weight. */
static uint8_t borrower(const struct record *record, const struct gw_link *links)
{
	uint8_t best = NOBODY;

	for (uint32_t i = 0; i < record->count; i++) {
		if (!links[i].flags)
			continue;
		if (best == NOBODY || buckets_of(record, i) * record->way[best].weight <
					      buckets_of(record, best) * record->way[i].weight)
			best = (uint8_t)i;
	}
	return best;
}

/* Usable homes get their buckets back; what is lent to a usable way stays there; the rest is lent.
 */
static void record_update(struct record *record, struct gw_paths *live, const struct gw_link *links)
{
	static const struct gw_link none;

	for (uint32_t b = 0; b < GW_PATH_BUCKETS; b++) {
		if (links[record->home[b]].flags)
			record->lent[b] = record->home[b];
		else if (record->lent[b] != NOBODY && !links[record->lent[b]].flags)
			record->lent[b] = NOBODY;
	}
	for (uint32_t b = 0; b < GW_PATH_BUCKETS; b++) {
		const struct gw_link *link;

		if (record->lent[b] == NOBODY)
			record->lent[b] = borrower(record, links);
		link = record->lent[b] == NOBODY ? &none : &links[record->lent[b]];
		if (memcmp(&live->link[b], link, sizeof(*link)) != 0)
			gw_link_store(&live->link[b], link);
	}
}

/* A record for new ways: one never used, else the one that has been free longest. */
static uint32_t record_claim(const struct gw_path_table *table)
{
	uint32_t best = GW_NONE;

	for (uint32_t i = 0; i < GW_MAX_PATHS; i++) {
		const struct record *record = &table->record[i];

		if (record->references || record->reserved)
			continue;
		if (best == GW_NONE || record->freed < table->record[best].freed)
			best = i;
	}
	return best;
}

static uint32_t record_make(struct gw_path_table *table, uint32_t before, const struct gw_way *ways,
	uint32_t count, const struct gw_link *links, uint8_t kind)
{
	uint32_t index = before < GW_MAX_PATHS && table->record[before].reserved
				 ? before
				 : record_claim(table);
	struct record *record, made = {.count = count, .kind = kind};
	uint8_t wish[GW_PATH_BUCKETS];

	if (index == GW_NONE)
		return GW_NONE;
	record = &table->record[index];
	for (uint32_t i = 0; i < count; i++)
		made.way[i] = name_of(&ways[i]);
	memset(wish, NOBODY, sizeof(wish));
	memset(made.lent, NOBODY, sizeof(made.lent));
	if (record->reserved)
		wish_from_links(&made, &table->live[index], links, wish);
	else if (before < GW_MAX_PATHS && table->record[before].references)
		wish_from_record(&made, &table->record[before], wish);
	homes_make(&made, wish);
	*record = made;
	return index;
}

uint32_t gw_path_table_take(struct gw_path_table *table, uint32_t before, const struct gw_way *ways,
	uint32_t count, const struct gw_link *links, uint8_t kind)
{
	uint32_t index = GW_NONE;

	if (before < GW_MAX_PATHS && table->record[before].references &&
		record_is(&table->record[before], ways, count, kind))
		index = before;
	for (uint32_t i = 0; index == GW_NONE && i < GW_MAX_PATHS; i++)
		if (table->record[i].references && record_is(&table->record[i], ways, count, kind))
			index = i;
	if (index == GW_NONE)
		index = record_make(table, before, ways, count, links, kind);
	if (index == GW_NONE)
		return GW_NONE;
	table->record[index].references++;
	record_update(&table->record[index], &table->live[index], links);
	return index;
}

void gw_path_table_drop(struct gw_path_table *table, uint32_t record)
{
	if (record < GW_MAX_PATHS && --table->record[record].references == 0)
		table->record[record].freed = ++table->drops;
}

uint32_t gw_ways_links(const struct gw_resolved *resolved,
	struct gw_link (*link)(const void *owner, const struct gw_way *way), const void *owner,
	struct gw_link *links, uint32_t *mtu)
{
	uint32_t usable = 0;

	for (uint32_t i = 0; i < resolved->way_count; i++) {
		links[i] = link(owner, &resolved->ways[i]);
		if (links[i].flags)
			*mtu = gw_mtu_lower(usable++ ? *mtu : 0, resolved->ways[i].mtu);
	}
	return usable;
}

bool gw_ways_off_link(const struct gw_resolved *resolved)
{
	for (uint32_t i = 0; i < resolved->way_count; i++)
		if (resolved->ways[i].on_link)
			return false;
	return resolved->way.state != GW_RESOLUTION_NO_ROUTE && !resolved->way.on_link;
}
