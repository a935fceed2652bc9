/* SPDX-License-Identifier: BSD-2-Clause */
#include "neighbour.h"

#include "base/address.h"
#include "base/log.h"
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
	bool broken; /* netlink failed for good; said once */
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

/* The caller holds hops->lock. */
static void store(struct gw_neighbours *neighbours, uint32_t index,
	const struct gw_resolved *resolved, int port)
{
	struct gw_next_hops *hops = &neighbours->engine->hops;
	struct gw_hop_entry *entry = &hops->entry[index];
	struct gw_link link = {.flags = 0};

	if (resolved->state == GW_RESOLUTION_DONE && port >= 0 &&
		(resolved->on_link || !(entry->flags & GW_HOP_ON_LINK))) {
		memcpy(link.destination_mac, resolved->destination_mac,
			sizeof(link.destination_mac));
		memcpy(link.source_mac, neighbours->engine->port[port].mac.addr_bytes,
			sizeof(link.source_mac));
		link.port = (uint16_t)port;
		link.flags = GW_LINK_RESOLVED;
		entry->owner = WRITTEN;
	} else if (entry->owner != WRITTEN) {
		return;
	}
	if (resolved->mtu)
		__atomic_store_n(&hops->live[index].mtu, resolved->mtu, __ATOMIC_RELAXED);
	gw_next_hop_store(hops, index, &link);
}

/*
 * The answer to each entry of its address: there may be one that must be on the link. The caller
 * holds hops->lock. True when that one may not have it.
 */
static bool store_all(struct gw_neighbours *neighbours, const struct gw_resolved *resolved)
{
	struct gw_next_hops *hops = &neighbours->engine->hops;
	int port = port_of(neighbours, resolved->ifindex);
	struct gw_address address;
	uint32_t any, on_link;

	memcpy(address.bytes, resolved->address, sizeof(address.bytes));
	any = gw_next_hop_find(hops, &address, 0);
	on_link = gw_next_hop_find(hops, &address, GW_HOP_ON_LINK);
	if (any)
		store(neighbours, any, resolved, port);
	if (on_link)
		store(neighbours, on_link, resolved, port);
	return on_link && resolved->state != GW_RESOLUTION_NO_ROUTE && !resolved->on_link;
}

static void tell(const struct gw_resolved *resolved, int port)
{
	char address[GW_ADDRESS_TEXT], gateway[GW_ADDRESS_TEXT], name[IF_NAMESIZE] = "?";

	gw_address_format(resolved->address, address);
	gw_address_format(resolved->gateway, gateway);
	if (resolved->ifindex)
		if_indextoname(resolved->ifindex, name);
	if (resolved->state == GW_RESOLUTION_NO_ROUTE)
		gw_log_warning("next hop %s: no route", address);
	else if (port < 0)
		gw_log_warning(
			"next hop %s: its route leaves by %s, which carries none of our ports",
			address, name);
	else if (resolved->state == GW_RESOLUTION_PENDING)
		gw_log_info("next hop %s: asking for %s on %s", address, gateway, name);
	else
		gw_log_info("next hop %s: %s on %s is at %02x:%02x:%02x:%02x:%02x:%02x", address,
			gateway, name, resolved->destination_mac[0], resolved->destination_mac[1],
			resolved->destination_mac[2], resolved->destination_mac[3],
			resolved->destination_mac[4], resolved->destination_mac[5]);
}

static void tell_off_link(const struct gw_resolved *resolved)
{
	char address[GW_ADDRESS_TEXT], gateway[GW_ADDRESS_TEXT];

	gw_log_warning("next hop %s: the kernel's route goes by the gateway %s, but a pool with "
		       "encap l2 needs its backends on the link itself: it gets nothing",
		gw_address_format(resolved->address, address),
		gw_address_format(resolved->gateway, gateway));
}

static void on_change(void *owner, const struct gw_resolved *resolved)
{
	struct gw_neighbours *neighbours = owner;
	struct gw_next_hops *hops = &neighbours->engine->hops;
	bool off_link;

	pthread_mutex_lock(&hops->lock);
	off_link = store_all(neighbours, resolved);
	pthread_mutex_unlock(&hops->lock);
	tell(resolved, port_of(neighbours, resolved->ifindex));
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
	for (uint32_t i = 1; addresses && i < hops->end; i++)
		if (hops->entry[i].references)
			memcpy(addresses[count++], hops->entry[i].address.bytes,
				sizeof(*addresses));
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
	error = gw_resolver_open(on_change, neighbours, &neighbours->resolver);
	if (error) {
		free(neighbours);
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
