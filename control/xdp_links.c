/* SPDX-License-Identifier: BSD-2-Clause */
#include "control/xdp_links.h"

#include "abi/encap.h"
#include "base/address.h"
#include "base/log.h"
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
	bool on_link; /* l2: never by a router */
};

struct gw_xdp_links {
	struct gw_xdp_object *object;
	struct gw_xdp_ports *ports;
	struct gw_resolver *resolver;
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

static void store_one(
	struct gw_xdp_links *links, struct reached *reached, const struct gw_resolved *resolved)
{
	uint32_t mtu = gw_mtu_lower(resolved->mtu, reached->mtu);
	struct gw_link link = {.flags = 0};
	int port = -1;

	if (resolved->state == GW_RESOLUTION_DONE && (resolved->on_link || !reached->on_link))
		port = gw_xdp_port_add(links->object, links->ports, resolved->ifindex);
	if (port >= 0) {
		memcpy(link.destination_mac, resolved->destination_mac, 6);
		memcpy(link.source_mac, resolved->source_mac, 6);
		link.port = (uint16_t)port;
		link.flags = GW_LINK_RESOLVED;
		reached->found = true;
	} else if (!reached->found) {
		return;
	}
	gw_xdp_link_store(&links->object->backends[reached->backend], &link,
		mtu > UINT16_MAX ? UINT16_MAX : (uint16_t)mtu);
}

static void store(struct gw_xdp_links *links, const struct gw_resolved *resolved)
{
	for (size_t i = first_of(links, resolved->address);
		i < links->count && !memcmp(links->reached[i].address, resolved->address, 16); i++)
		store_one(links, &links->reached[i], resolved);
}

static void on_change(void *owner, const struct gw_resolved *resolved)
{
	char address[GW_ADDRESS_TEXT], gateway[GW_ADDRESS_TEXT];

	store(owner, resolved);
	gw_address_format(resolved->address, address);
	gw_address_format(resolved->gateway, gateway);
	if (resolved->state == GW_RESOLUTION_NO_ROUTE)
		gw_log_warning("next hop %s: no route", address);
	else if (resolved->state == GW_RESOLUTION_PENDING)
		gw_log_info("next hop %s: asking for %s", address, gateway);
	else
		gw_log_info("next hop %s: %s is at %02x:%02x:%02x:%02x:%02x:%02x", address, gateway,
			resolved->destination_mac[0], resolved->destination_mac[1],
			resolved->destination_mac[2], resolved->destination_mac[3],
			resolved->destination_mac[4], resolved->destination_mac[5]);
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

int gw_xdp_links_open(uv_loop_t *loop, struct gw_xdp_object *object, struct gw_xdp_ports *ports,
	struct gw_xdp_links **out)
{
	struct gw_xdp_links *links = calloc(1, sizeof(*links));
	int error;

	if (!links)
		return -ENOMEM;
	links->object = object;
	links->ports = ports;
	error = gw_resolver_open(on_change, links, &links->resolver);
	if (!error)
		error = uv_poll_init(loop, &links->poll, gw_resolver_fd(links->resolver));
	if (error) {
		gw_resolver_close(links->resolver);
		free(links);
		return error;
	}
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

int gw_xdp_links_follow(struct gw_xdp_links *links, const struct gw_snapshot *snapshot)
{
	const struct gw_backend *backends =
		(const void *)((const uint8_t *)snapshot->data + snapshot->data->backends.offset);
	size_t total = snapshot->data->backends.count;
	struct reached *reached = calloc(total + 1, sizeof(*reached));
	uint8_t(*addresses)[16] = calloc(total + 1, sizeof(*addresses));
	size_t count = 0;
	int error = -ENOMEM;

	if (!reached || !addresses)
		goto out;
	for (size_t i = 0; i < total; i++) {
		if (backends[i].state == GW_BACKEND_FREE)
			continue;
		memcpy(reached[count].address, backends[i].outer_destination.bytes, 16);
		memcpy(addresses[count], reached[count].address, 16);
		reached[count].mtu = backends[i].mtu;
		reached[count].on_link = backends[i].encap == GW_ENCAP_L2;
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
out:
	free(reached);
	free(addresses);
	return error;
}

static void on_closed(uv_handle_t *handle)
{
	struct gw_xdp_links *links = handle->data;

	if (--links->handles)
		return;
	gw_resolver_close(links->resolver);
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
