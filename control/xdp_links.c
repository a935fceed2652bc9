/* SPDX-License-Identifier: BSD-2-Clause */
#include "control/xdp_links.h"

#include "abi/encap.h"
#include "base/address.h"
#include "base/log.h"
#include "base/paths.h"
#include "base/resolver.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct reached {
	uint8_t address[16];
	uint32_t backend;
	uint16_t mtu; /* the pool's; 0: as the link says */
	/* The entry's link is of this process's finding, so it may be cleared too. One adopted from
	 * a former process goes on being used until there is a better answer. */
	bool found;
	bool on_link;	 /* l2: never by a router */
	uint32_t record; /* of links->paths, a reference; GW_NONE: none */
};

struct gw_xdp_links {
	struct gw_xdp_object *object;
	struct gw_xdp_ports *ports;
	struct gw_resolver *resolver;
	struct gw_path_table *paths;
	struct reached *reached; /* sorted by address */
	size_t count;
	uv_poll_t poll;
	uv_timer_t timer;
	int handles; /* still closing */
};

static int by_address(const void *a, const void *b)
{
	return memcmp(
		((const struct reached *)a)->address, ((const struct reached *)b)->address, 16);
}

/* The first entry of an address, or `count`. */
static size_t first_of(const struct gw_xdp_links *links, const uint8_t address[static 16])
{
	size_t low = 0, high = links->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (memcmp(links->reached[middle].address, address, 16) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Whose answer is made. */
struct asker {
	struct gw_xdp_links *links;
	const struct reached *reached;
};

/* What a way comes to for a backend; flags 0: it cannot go there, now or ever. */
static struct gw_link link_of(const void *owner, const struct gw_way *way)
{
	const struct asker *asker = owner;
	struct gw_xdp_ports *ports = asker->links->ports;
	struct gw_link link = {.flags = 0};
	uint16_t vlan;
	int port;

	if (way->state != GW_RESOLUTION_DONE || (asker->reached->on_link && !way->on_link))
		return link;
	port = gw_xdp_port_add(asker->links->object, ports, way->ifindex);
	if (port < 0)
		return link;
	vlan = way->vlan ? way->vlan : ports->port[port].vlan;
	memcpy(link.destination_mac, way->destination_mac, 6);
	memcpy(link.source_mac, way->source_mac, 6);
	link.port = (uint16_t)port;
	link.flags = (uint16_t)(GW_LINK_RESOLVED | vlan << GW_LINK_VLAN_SHIFT);
	return link;
}

/* The record that the backend has, or had when a former process wrote its entry. */
static uint32_t record_before(const struct gw_xdp_links *links, const struct reached *reached)
{
	struct gw_link live = gw_link_load(&links->object->backends[reached->backend].link);

	if (reached->record != GW_NONE || !(live.flags & GW_LINK_MULTIPATH))
		return reached->record;
	return gw_link_record(&live);
}

static void store_one(
	struct gw_xdp_links *links, struct reached *reached, const struct gw_resolved *resolved)
{
	const struct asker asker = {links, reached};
	struct gw_link ways[GW_WAYS_MAX], link = link_of(&asker, &resolved->way);
	uint32_t mtu = resolved->way.mtu, record = GW_NONE;

	if (gw_ways_links(resolved, link_of, &asker, ways, &mtu))
		record = gw_path_table_take(links->paths, record_before(links, reached),
			resolved->ways, resolved->way_count, ways, reached->on_link);
	if (record != GW_NONE)
		link = gw_link_to_record(record);
	if (!link.flags && !reached->found)
		return;
	reached->found = true;
	mtu = gw_mtu_lower(mtu, reached->mtu);
	gw_xdp_link_store(&links->object->backends[reached->backend], &link,
		mtu > UINT16_MAX ? UINT16_MAX : (uint16_t)mtu);
	gw_path_table_drop(links->paths, reached->record);
	reached->record = record;
}

/* True when a backend that must be on the link is not. */
static bool store(struct gw_xdp_links *links, const struct gw_resolved *resolved)
{
	bool on_link = false;

	for (size_t i = first_of(links, resolved->address);
		i < links->count && !memcmp(links->reached[i].address, resolved->address, 16);
		i++) {
		store_one(links, &links->reached[i], resolved);
		on_link |= links->reached[i].on_link;
	}
	return on_link && gw_ways_off_link(resolved);
}

static void tell_ways(const struct gw_resolved *resolved, const char *address)
{
	uint32_t usable = 0;

	for (uint32_t i = 0; i < resolved->way_count; i++)
		usable += resolved->ways[i].state == GW_RESOLUTION_DONE;
	gw_log_info(
		"next hop %s: %u ways, %u of them resolved", address, resolved->way_count, usable);
}

static void on_change(void *owner, const struct gw_resolved *resolved)
{
	char address[GW_ADDRESS_TEXT], gateway[GW_ADDRESS_TEXT];
	const struct gw_way *way = &resolved->way;
	bool off_link = store(owner, resolved);

	gw_address_format(resolved->address, address);
	gw_address_format(way->gateway, gateway);
	if (off_link)
		gw_log_warning("next hop %s: the kernel's route goes by the gateway %s, but a pool "
			       "with encap l2 needs its backends on the link itself: it gets "
			       "nothing",
			address, gateway);
	if (resolved->way_count)
		tell_ways(resolved, address);
	else if (way->state == GW_RESOLUTION_NO_ROUTE)
		gw_log_warning("next hop %s: no route", address);
	else if (way->state == GW_RESOLUTION_PENDING)
		gw_log_info("next hop %s: asking for %s", address, gateway);
	else
		gw_log_info("next hop %s: %s is at %02x:%02x:%02x:%02x:%02x:%02x", address, gateway,
			way->destination_mac[0], way->destination_mac[1], way->destination_mac[2],
			way->destination_mac[3], way->destination_mac[4], way->destination_mac[5]);
}

static void on_netlink(uv_poll_t *poll, int status, int events)
{
	struct gw_xdp_links *links = poll->data;
	int error = status < 0 ? status : gw_resolver_process(links->resolver);

	(void)events;
	if (!error)
		return;
	gw_log_error("netlink: %s; next hops stay as they are", strerror(-error));
	uv_poll_stop(&links->poll);
}

static void on_tick(uv_timer_t *timer)
{
	gw_resolver_tick(((struct gw_xdp_links *)timer->data)->resolver);
}

/* Records that the backends of a former process are on must not become others' meanwhile. */
static void records_adopt(struct gw_xdp_links *links)
{
	for (uint32_t i = 0; links->object->adopted && i < GW_XDP_BACKENDS; i++) {
		struct gw_link live = gw_link_load(&links->object->backends[i].link);

		if (live.flags & GW_LINK_MULTIPATH)
			gw_path_table_reserve(links->paths, gw_link_record(&live));
	}
}

int gw_xdp_links_open(uv_loop_t *loop, struct gw_xdp_object *object, struct gw_xdp_ports *ports,
	struct gw_xdp_links **out)
{
	struct gw_xdp_links *links = calloc(1, sizeof(*links));
	int error;

	if (!links)
		return -ENOMEM;
	links->object = object;
	links->ports = ports;
	links->paths = gw_path_table_new(object->paths);
	error = links->paths ? gw_resolver_open(on_change, links, &links->resolver) : -ENOMEM;
	if (!error)
		error = uv_poll_init(loop, &links->poll, gw_resolver_fd(links->resolver));
	if (error) {
		gw_resolver_close(links->resolver);
		gw_path_table_free(links->paths);
		free(links);
		return error;
	}
	records_adopt(links);
	uv_timer_init(loop, &links->timer);
	links->poll.data = links->timer.data = links;
	links->handles = 2;
	uv_poll_start(&links->poll, UV_READABLE, on_netlink);
	uv_timer_start(&links->timer, on_tick, GW_RESOLVER_TICK_MS, GW_RESOLVER_TICK_MS);
	*out = links;
	return 0;
}

static bool found_before(const struct gw_xdp_links *links, const uint8_t address[static 16])
{
	size_t i = first_of(links, address);

	return i < links->count && !memcmp(links->reached[i].address, address, 16) &&
	       links->reached[i].found;
}

/* The records of the backends with a number below `total`, by it; what is beyond is given back. */
static uint32_t *records_take_out(struct gw_xdp_links *links, size_t total)
{
	uint32_t *records = malloc((total + 1) * sizeof(*records));

	if (!records)
		return NULL;
	memset(records, 0xff, (total + 1) * sizeof(*records));
	for (size_t i = 0; i < links->count; i++) {
		struct reached *one = &links->reached[i];

		if (one->backend < total)
			records[one->backend] = one->record;
		else
			gw_path_table_drop(links->paths, one->record);
		one->record = GW_NONE;
	}
	return records;
}

int gw_xdp_links_follow(struct gw_xdp_links *links, const struct gw_snapshot *snapshot)
{
	const struct gw_backend *backends =
		(const void *)((const uint8_t *)snapshot->data + snapshot->data->backends.offset);
	size_t total = snapshot->data->backends.count;
	struct reached *reached = calloc(total + 1, sizeof(*reached));
	uint8_t(*addresses)[16] = calloc(total + 1, sizeof(*addresses));
	uint32_t *records = records_take_out(links, total);
	size_t count = 0;
	int error = -ENOMEM;

	if (!reached || !addresses || !records)
		goto out;
	for (size_t i = 0; i < total; i++) {
		if (backends[i].state == GW_BACKEND_FREE)
			continue;
		memcpy(reached[count].address, backends[i].outer_destination.bytes, 16);
		memcpy(addresses[count], reached[count].address, 16);
		reached[count].mtu = backends[i].mtu;
		reached[count].on_link = backends[i].encap == GW_ENCAP_L2;
		reached[count].record = records[i];
		records[i] = GW_NONE;
		reached[count].found = found_before(links, reached[count].address);
		reached[count++].backend = (uint32_t)i;
	}
	qsort(reached, count, sizeof(*reached), by_address);
	free(links->reached);
	links->reached = reached;
	links->count = count;
	reached = NULL;
	error = gw_resolver_track(links->resolver, addresses, count);
	/* A backend that is new at an address known already has no change to wait for. */
	for (size_t i = 0; i < count && !error; i++) {
		struct reached *one = &links->reached[i];
		const struct gw_resolved *resolved = gw_resolver_get(links->resolver, one->address);

		if (resolved)
			store_one(links, one, resolved);
	}
	for (size_t i = 0; i < total; i++) /* of backends that are free now */
		gw_path_table_drop(links->paths, records[i]);
out:
	free(reached);
	free(addresses);
	free(records);
	return error;
}

static void on_closed(uv_handle_t *handle)
{
	struct gw_xdp_links *links = handle->data;

	if (--links->handles)
		return;
	gw_resolver_close(links->resolver);
	gw_path_table_free(links->paths);
	free(links->reached);
	free(links);
}

void gw_xdp_links_close(struct gw_xdp_links *links)
{
	if (!links)
		return;
	uv_close((uv_handle_t *)&links->poll, on_closed);
	uv_close((uv_handle_t *)&links->timer, on_closed);
}
