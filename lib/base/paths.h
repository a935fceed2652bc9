/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The ways of multipath next hops (struct gw_paths, abi/objects.h), kept for a datapath: which ways
 * share a record, and which way has which of a record's buckets.
 *
 * Addresses with the same ways (all backends behind the same two routers) share one record. Within
 * it each way has a home: its share of the 16 buckets by weight, at least one. Homes move as little
 * as possible when ways come, go or change their weight. While a way is unresolved, the buckets of
 * its home are lent to the resolved ones, and come back with it. So flows on ways that stay, stay;
 * and those of a way that was away for a moment find it again.
 *
 * A record that is no longer used is used again last, since a packet may still be on its way
 * through it. No lock: one thread, which is also the only writer of the records.
 */
#pragma once

#include "abi/objects.h"
#include "base/resolver.h"

struct gw_path_table;

/* `live` are the datapath's GW_MAX_PATHS records. Returns NULL without memory. */
struct gw_path_table *gw_path_table_new(struct gw_paths *live);
void gw_path_table_free(
	struct gw_path_table *table); /* NULL is fine; the records stay as they are */

/*
 * A record that live links of an earlier process name: it is left alone until somebody takes it by
 * its number, as `before`, with ways that are partly the same.
 */
void gw_path_table_reserve(struct gw_path_table *table, uint32_t record);

/*
 * A reference on the record of these ways, found or made, and that record brought up to date.
 * `links` has what the ways resolve to, one each; flags 0: not usable now. `kind` tells apart users
 * that may use different ways. `before`: the record that the user has now, or GW_NONE; a new record
 * starts with its homes. The reference on `before` remains. Returns the record's number; GW_NONE
 * when all are taken.
 */
uint32_t gw_path_table_take(struct gw_path_table *table, uint32_t before, const struct gw_way *ways,
	uint32_t count, const struct gw_link *links, uint8_t kind);

/*
 * What `link` makes of each way, into links[way_count]; flags 0: it cannot go there. *mtu becomes
 * the least of those that can be used. Returns how many can.
 */
uint32_t gw_ways_links(const struct gw_resolved *resolved,
	struct gw_link (*link)(const void *owner, const struct gw_way *way), const void *owner,
	struct gw_link *links, uint32_t *mtu);

/* True when a router is on every way to the address. */
bool gw_ways_off_link(const struct gw_resolved *resolved);

/* A link that says "one of the ways of this record". */
GW_INLINE struct gw_link gw_link_to_record(uint32_t record)
{
	return (struct gw_link){
		.flags = (uint16_t)(GW_LINK_MULTIPATH | record << GW_LINK_VLAN_SHIFT)};
}

/* Gives a reference back; GW_NONE is fine. */
void gw_path_table_drop(struct gw_path_table *table, uint32_t record);
