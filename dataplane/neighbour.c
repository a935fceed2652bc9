/* SPDX-License-Identifier: BSD-2-Clause */
#include "neighbour.h"

#include "abi/encap.h"
#include "base/address.h"
#include "base/log.h"
#include "base/paths.h"
#include "base/resolver.h"
#include "engine.h"

#include <net/if.h>
#include <stdlib.h>
#include <string.h>

/* entry.owner: the kernel's answer has been written here, so it may also take it back. */
#define WRITTEN 1

struct gw_neighbours {
	struct gw_engine *engine;
	struct gw_resolver *resolver;
	uint64_t version; /* of engine->hops, as tracked */
	uint32_t ifindex[GW_PORTS_MAX];
	struct gw_path_table *paths;
	uint32_t *record; /* [GW_NEXT_HOPS_MAX], each entry's of `paths`, plus one; 0: none */
	bool broken;	  /* netlink failed for good; said once */
};

static void read_ifindexes(struct gw_neighbours *neighbours)
{
	for (uint16_t i = 0; i < neighbours->engine->port_count; i++)
		neighbours->ifindex[i] = if_nametoindex(neighbours->engine->port[i].kernel);
}

static int port_of(const struct gw_neighbours *neighbours, uint32_t ifindex)
{
	for (uint16_t i = 0; i < neighbours->engine->port_count; i++)
		if (ifindex && neighbours->ifindex[i] == ifindex)
			return i;
	return -1;
}

/* Whose answer is made: a port's MAC and tag depend on one, the ways it may take on the other. */
struct asker {
	const struct gw_neighbours *neighbours;
	const struct gw_hop_entry *entry;
};

/* What a way comes to for an entry; flags 0: it cannot go there, now or ever. */
static struct gw_link link_of(const void *owner, const struct gw_way *way)
{
	const struct asker *asker = owner;
	const struct gw_port *ports = asker->neighbours->engine->port;
	int port = port_of(asker->neighbours, way->ifindex);
	struct gw_link link = {.flags = 0};
	uint16_t vlan;

	if (way->state != GW_RESOLUTION_DONE || port < 0 ||
		(asker->entry->flags & GW_HOP_ON_LINK && !way->on_link))
		return link;
	vlan = way->vlan ? way->vlan : ports[port].vlan;
	memcpy(link.destination_mac, way->destination_mac, sizeof(link.destination_mac));
	memcpy(link.source_mac, ports[port].mac.addr_bytes, sizeof(link.source_mac));
	link.port = (uint16_t)port;
	link.flags = (uint16_t)(GW_LINK_RESOLVED | vlan << GW_LINK_VLAN_SHIFT);
	return link;
}

/* The caller holds hops->lock. */
static void store(
	struct gw_neighbours *neighbours, uint32_t index, const struct gw_resolved *resolved)
{
	struct gw_next_hops *hops = &neighbours->engine->hops;
	struct gw_hop_entry *entry = &hops->entry[index];
	const struct asker asker = {neighbours, entry};
	struct gw_link links[GW_WAYS_MAX], link = link_of(&asker, &resolved->way);
	uint32_t mtu = resolved->way.mtu, record = GW_NONE, before = neighbours->record[index] - 1;

	if (gw_ways_links(resolved, link_of, &asker, links, &mtu))
		record = gw_path_table_take(neighbours->paths, before, resolved->ways,
			resolved->way_count, links, entry->flags);
	if (record != GW_NONE)
		link = gw_link_to_record(record);
	if (!link.flags && entry->owner != WRITTEN)
		return;
	entry->owner = WRITTEN;
	if (mtu)
		gw_next_hop_store_mtu(hops, index, mtu);
	gw_next_hop_store(hops, index, &link);
	gw_path_table_drop(neighbours->paths, before);
	neighbours->record[index] = record + 1;
}

/*
 * The answer to each entry of its address: there may be one that must be on the link. The caller
 * holds hops->lock. True when that one may not have it.
 */
static bool store_all(struct gw_neighbours *neighbours, const struct gw_resolved *resolved)
{
	struct gw_next_hops *hops = &neighbours->engine->hops;
	struct gw_address address;
	uint32_t any, on_link;

	memcpy(address.bytes, resolved->address, sizeof(address.bytes));
	any = gw_next_hop_find(hops, &address, 0);
	on_link = gw_next_hop_find(hops, &address, GW_HOP_ON_LINK);
	if (any)
		store(neighbours, any, resolved);
	if (on_link)
		store(neighbours, on_link, resolved);
	return on_link && gw_ways_off_link(resolved);
}

static void tell_ways(const struct gw_neighbours *neighbours, const struct gw_resolved *resolved)
{
	uint32_t usable = 0;
	char address[GW_ADDRESS_TEXT];

	for (uint32_t i = 0; i < resolved->way_count; i++)
		usable += resolved->ways[i].state == GW_RESOLUTION_DONE &&
			  port_of(neighbours, resolved->ways[i].ifindex) >= 0;
	gw_log_info("next hop %s: %u ways, %u of them resolved and on our ports",
		gw_address_format(resolved->address, address), resolved->way_count, usable);
}

static void tell(const struct gw_neighbours *neighbours, const struct gw_resolved *resolved)
{
	char address[GW_ADDRESS_TEXT], gateway[GW_ADDRESS_TEXT], name[IF_NAMESIZE] = "?";
	const struct gw_way *way = &resolved->way;

	gw_address_format(resolved->address, address);
	gw_address_format(way->gateway, gateway);
	if (way->ifindex)
		if_indextoname(way->ifindex, name);
	if (resolved->way_count)
		tell_ways(neighbours, resolved);
	else if (way->state == GW_RESOLUTION_NO_ROUTE)
		gw_log_warning("next hop %s: no route", address);
	else if (port_of(neighbours, way->ifindex) < 0)
		gw_log_warning(
			"next hop %s: its route leaves by %s, which carries none of our ports",
			address, name);
	else if (way->state == GW_RESOLUTION_PENDING)
		gw_log_info("next hop %s: asking for %s on %s", address, gateway, name);
	else
		gw_log_info("next hop %s: %s on %s is at %02x:%02x:%02x:%02x:%02x:%02x", address,
			gateway, name, way->destination_mac[0], way->destination_mac[1],
			way->destination_mac[2], way->destination_mac[3], way->destination_mac[4],
			way->destination_mac[5]);
}

static void tell_off_link(const struct gw_resolved *resolved)
{
	char address[GW_ADDRESS_TEXT], gateway[GW_ADDRESS_TEXT];

	gw_log_warning("next hop %s: the kernel's route goes by the gateway %s, but a pool with "
		       "encap l2 needs its backends on the link itself: it gets nothing",
		gw_address_format(resolved->address, address),
		gw_address_format(resolved->way.gateway, gateway));
}

static void on_change(void *owner, const struct gw_resolved *resolved)
{
	struct gw_neighbours *neighbours = owner;
	struct gw_next_hops *hops = &neighbours->engine->hops;
	bool off_link;

	pthread_mutex_lock(&hops->lock);
	off_link = store_all(neighbours, resolved);
	pthread_mutex_unlock(&hops->lock);
	tell(neighbours, resolved);
	if (off_link)
		tell_off_link(resolved);
}

/* An entry made anew for an address that was tracked all along gets the answer without a change. */
static void store_known(
	struct gw_neighbours *neighbours, const uint8_t (*addresses)[16], size_t count)
{
	struct gw_next_hops *hops = &neighbours->engine->hops;

	pthread_mutex_lock(&hops->lock);
	for (size_t i = 0; i < count; i++) {
		const struct gw_resolved *resolved =
			gw_resolver_get(neighbours->resolver, addresses[i]);

		if (resolved)
			store_all(neighbours, resolved);
	}
	pthread_mutex_unlock(&hops->lock);
}

static void take_over(struct gw_neighbours *neighbours)
{
	struct gw_next_hops *hops = &neighbours->engine->hops;
	uint8_t(*addresses)[16];
	uint64_t version;
	size_t count = 0;

	pthread_mutex_lock(&hops->lock);
	version = hops->version;
	addresses = calloc(hops->end, sizeof(*addresses));
	for (uint32_t i = 1; addresses && i < hops->end; i++) {
		if (hops->entry[i].references)
			memcpy(addresses[count++], hops->entry[i].address.bytes,
				sizeof(*addresses));
		if (!hops->entry[i].owner) { /* new or free: what was known here was another's */
			gw_path_table_drop(neighbours->paths, neighbours->record[i] - 1);
			neighbours->record[i] = 0;
		}
	}
	pthread_mutex_unlock(&hops->lock);
	if (!addresses || gw_resolver_track(neighbours->resolver, addresses, count)) {
		gw_log_error("next hops: no memory to follow %zu addresses; trying again", count);
	} else {
		store_known(neighbours, addresses, count);
		neighbours->version = version;
	}
	free(addresses);
}

int gw_neighbours_open(struct gw_engine *engine, struct gw_neighbours **out)
{
	struct gw_neighbours *neighbours = calloc(1, sizeof(*neighbours));
	int error;

	if (!neighbours)
		return -ENOMEM;
	neighbours->engine = engine;
	neighbours->paths = gw_path_table_new(engine->hops.paths);
	neighbours->record = calloc(GW_NEXT_HOPS_MAX, sizeof(*neighbours->record));
	error = neighbours->paths && neighbours->record
			? gw_resolver_open(on_change, neighbours, &neighbours->resolver)
			: -ENOMEM;
	if (error) {
		gw_neighbours_close(neighbours);
		return error;
	}
	read_ifindexes(neighbours);
	*out = neighbours;
	return 0;
}

void gw_neighbours_close(struct gw_neighbours *neighbours)
{
	if (!neighbours)
		return;
	gw_resolver_close(neighbours->resolver);
	gw_path_table_free(neighbours->paths);
	free(neighbours->record);
	free(neighbours);
}

int gw_neighbours_fd(const struct gw_neighbours *neighbours)
{
	return gw_resolver_fd(neighbours->resolver);
}

void gw_neighbours_process(struct gw_neighbours *neighbours)
{
	int error;

	read_ifindexes(neighbours);
	error = gw_resolver_process(neighbours->resolver);
	if (error && !neighbours->broken) {
		gw_log_error("netlink: %s; next hops stay as they are", strerror(-error));
		neighbours->broken = true;
	}
}

void gw_neighbours_tick(struct gw_neighbours *neighbours)
{
	if (__atomic_load_n(&neighbours->engine->hops.version, __ATOMIC_ACQUIRE) !=
		neighbours->version)
		take_over(neighbours);
	gw_resolver_tick(neighbours->resolver);
}
