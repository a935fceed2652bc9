/* SPDX-License-Identifier: BSD-2-Clause */
#include "resolver.h"

#include "rtnetlink.h"

#include <libmnl/libmnl.h>

#include <errno.h>
#include <linux/neighbour.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PROBE_INTERVAL_MS   500
#define REROUTE_INTERVAL_MS 200
#define OWN_STEP_MS	    100 /* our own step into FAILED is told back within this */
#define NONE		    UINT32_MAX
/* States in which the kernel itself would send to the neighbour. */
#define NUD_USABLE (NUD_PERMANENT | NUD_NOARP | NUD_REACHABLE | NUD_PROBE | NUD_STALE | NUD_DELAY)

struct link {
	struct rtnl_link info;
	struct link *next;
};

/* One neighbour that at least one target is reached by. */
struct via {
	uint32_t ifindex;
	uint8_t address[16];
	uint16_t state;
	bool has_mac; /* `mac` is the last one known to be right */
	bool asking;  /* broadcast after an unanswered probe: `mac` holds until the kernel gives up
		       */
	uint8_t mac[6];
	uint64_t probed_ms;
	uint64_t asked_ms; /* when `asking` began */
	uint32_t first_target;
	uint32_t chain; /* next with the same hash */
};

struct target {
	struct gw_resolved resolved;
	struct rtnl_route route;
	uint32_t via;  /* NONE without a route */
	uint32_t next; /* of the same via */
	bool fresh;    /* never reported */
};

struct gw_resolver {
	gw_resolver_change *change;
	void *owner;
	struct mnl_socket *query;
	struct mnl_socket *listener;
	struct link *links;
	struct target *targets; /* sorted by address */
	size_t target_count;
	struct via *vias; /* made anew with each routing pass */
	uint32_t via_count;
	uint32_t *buckets; /* heads of via chains; bucket_mask + 1 */
	uint32_t bucket_mask;
	bool routes_changed;
	uint64_t routed_ms;
};

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* ---- links */

static struct link *link_find(const struct gw_resolver *resolver, uint32_t ifindex)
{
	struct link *link = resolver->links;

	while (link && link->info.ifindex != ifindex)
		link = link->next;
	return link;
}

static void links_free(struct gw_resolver *resolver)
{
	while (resolver->links) {
		struct link *next = resolver->links->next;

		free(resolver->links);
		resolver->links = next;
	}
}

/* ---- vias */

static uint32_t via_hash(uint32_t ifindex, const uint8_t address[static 16])
{
	uint32_t hash = 2166136261u ^ ifindex; /* FNV-1a */

	for (int i = 0; i < 16; i++)
		hash = (hash ^ address[i]) * 16777619u;
	return hash ^ hash >> 15;
}

static struct via *via_find(
	const struct gw_resolver *resolver, uint32_t ifindex, const uint8_t address[static 16])
{
	uint32_t i;

	if (!resolver->buckets)
		return NULL;
	i = resolver->buckets[via_hash(ifindex, address) & resolver->bucket_mask];
	while (i != NONE) {
		struct via *via = &resolver->vias[i];

		if (via->ifindex == ifindex && !memcmp(via->address, address, 16))
			return via;
		i = via->chain;
	}
	return NULL;
}

/* ---- answers */

static void target_refresh(struct gw_resolver *resolver, struct target *target)
{
	const struct via *via = target->via == NONE ? NULL : &resolver->vias[target->via];
	const struct link *link = via ? link_find(resolver, via->ifindex) : NULL;
	struct gw_resolved next = {.state = GW_RESOLUTION_NO_ROUTE};

	memcpy(next.address, target->resolved.address, 16);
	if (via && link && link->info.up && !link->info.gone) {
		next.state = via->has_mac && link->info.has_mac ? GW_RESOLUTION_DONE
								: GW_RESOLUTION_PENDING;
		next.ifindex = via->ifindex;
		next.mtu = target->route.mtu && target->route.mtu < link->info.mtu
				   ? target->route.mtu
				   : link->info.mtu;
		memcpy(next.gateway, via->address, 16);
		memcpy(next.source_mac, link->info.mac, 6);
		if (via->has_mac)
			memcpy(next.destination_mac, via->mac, 6);
	}
	if (!target->fresh && !memcmp(&next, &target->resolved, sizeof(next)))
		return;
	target->fresh = false;
	target->resolved = next;
	resolver->change(resolver->owner, &target->resolved);
}

static void refresh_all(struct gw_resolver *resolver)
{
	for (size_t i = 0; i < resolver->target_count; i++)
		target_refresh(resolver, &resolver->targets[i]);
}

static void refresh_via(struct gw_resolver *resolver, const struct via *via)
{
	for (uint32_t i = via->first_target; i != NONE; i = resolver->targets[i].next)
		target_refresh(resolver, &resolver->targets[i]);
}

/* ---- what the kernel tells */

static void on_link(void *owner, const struct rtnl_link *info)
{
	struct gw_resolver *resolver = owner;
	struct link *link = link_find(resolver, info->ifindex);

	if (!link) {
		link = calloc(1, sizeof(*link));
		if (!link)
			return; /* the next event or dump of this link tries again */
		link->next = resolver->links;
		resolver->links = link;
	}
	link->info = *info;
	resolver->routes_changed = true;
}

static void on_neighbour(void *owner, const struct rtnl_neighbour *neighbour)
{
	struct gw_resolver *resolver = owner;
	struct via *via = via_find(resolver, neighbour->ifindex, neighbour->address);

	if (!via)
		return;
	via->state = neighbour->state;
	if (neighbour->state & NUD_USABLE && neighbour->has_mac) {
		via->has_mac = true;
		via->asking = false;
		memcpy(via->mac, neighbour->mac, 6);
	} else if (!via->asking) {
		via->has_mac = false;
	} else if (neighbour->state == 0 ||
		   (neighbour->state & NUD_FAILED && now_ms() - via->asked_ms > OWN_STEP_MS)) {
		/* Not our own step into FAILED on the way to a broadcast: the kernel gave up. */
		via->has_mac = false;
		via->asking = false;
	}
	refresh_via(resolver, via);
}

static void on_route(void *owner)
{
	((struct gw_resolver *)owner)->routes_changed = true;
}

static struct rtnl_events events_of(struct gw_resolver *resolver)
{
	return (struct rtnl_events){
		.owner = resolver, .link = on_link, .neighbour = on_neighbour, .route = on_route};
}

/* ---- probing */

static void via_probe(struct gw_resolver *resolver, struct via *via, uint64_t now)
{
	uint64_t since = now - via->probed_ms;
	struct link *link = link_find(resolver, via->ifindex);

	if (!link || !link->info.up || via->state & (NUD_PERMANENT | NUD_NOARP))
		return;
	if (via->state & NUD_PROBE && via->probed_ms && since >= GW_RESOLVER_TICK_MS / 2) {
		/* Unanswered: forget it and ask everyone, keeping the last answer meanwhile. */
		via->asking = true;
		via->asked_ms = now;
		via->probed_ms = now;
		rtnl_set_neighbour(resolver->query, via->ifindex, via->address, NUD_FAILED, 0);
		rtnl_set_neighbour(resolver->query, via->ifindex, via->address, 0, NTF_USE);
		return;
	}
	if (via->probed_ms && since < PROBE_INTERVAL_MS)
		return;
	via->probed_ms = now;
	if (via->state & (NUD_REACHABLE | NUD_STALE | NUD_DELAY))
		rtnl_set_neighbour(resolver->query, via->ifindex, via->address, NUD_PROBE, 0);
	else
		rtnl_set_neighbour(resolver->query, via->ifindex, via->address, 0, NTF_USE);
}

static void probe_all(struct gw_resolver *resolver)
{
	uint64_t now = now_ms();

	for (uint32_t i = 0; i < resolver->via_count; i++)
		via_probe(resolver, &resolver->vias[i], now);
}

/* ---- routes */

struct routing {
	struct via *vias;
	uint32_t *buckets;
	uint32_t count;
	uint32_t mask;
};

static int routing_init(struct routing *routing, size_t targets)
{
	uint32_t size = 16;

	while (size < targets * 2)
		size *= 2;
	routing->count = 0;
	routing->mask = size - 1;
	routing->vias = calloc(targets ? targets : 1, sizeof(*routing->vias));
	routing->buckets = malloc(size * sizeof(*routing->buckets));
	if (!routing->vias || !routing->buckets) {
		free(routing->vias);
		free(routing->buckets);
		return -ENOMEM;
	}
	memset(routing->buckets, 0xff, size * sizeof(*routing->buckets));
	return 0;
}

/* The via of a route in the new set, made when it is the first; what the old set knew is kept. */
static uint32_t routing_via(const struct gw_resolver *resolver, struct routing *routing,
	uint32_t ifindex, const uint8_t address[static 16], bool *made)
{
	uint32_t hash = via_hash(ifindex, address) & routing->mask;
	const struct via *old;
	struct via *via;

	*made = false;
	for (uint32_t i = routing->buckets[hash]; i != NONE; i = routing->vias[i].chain)
		if (routing->vias[i].ifindex == ifindex &&
			!memcmp(routing->vias[i].address, address, 16))
			return i;
	via = &routing->vias[routing->count];
	old = via_find(resolver, ifindex, address);
	if (old) {
		*via = *old;
	} else {
		via->ifindex = ifindex;
		memcpy(via->address, address, 16);
		*made = true;
	}
	via->first_target = NONE;
	via->chain = routing->buckets[hash];
	routing->buckets[hash] = routing->count;
	return routing->count++;
}

/*
 * Asks the kernel for the route of every target and sets the vias up anew. Returns 0 or -errno,
 * then all is as before.
 */
static int route_all(struct gw_resolver *resolver)
{
	struct rtnl_events events = events_of(resolver);
	struct routing routing;
	bool made, any_made = false;
	int error = routing_init(&routing, resolver->target_count);

	if (error)
		return error;
	for (size_t i = 0; i < resolver->target_count; i++) {
		struct target *target = &resolver->targets[i];
		struct rtnl_route route;

		if (rtnl_get_route(resolver->query, target->resolved.address, &route))
			route = target->route; /* netlink is out of breath: as before */
		target->route = route;
		target->via = NONE;
		if (!route.found)
			continue;
		target->via = routing_via(resolver, &routing, route.ifindex,
			route.has_gateway ? route.gateway : target->resolved.address, &made);
		target->next = routing.vias[target->via].first_target;
		routing.vias[target->via].first_target = (uint32_t)i;
		any_made |= made;
	}
	free(resolver->vias);
	free(resolver->buckets);
	resolver->vias = routing.vias;
	resolver->buckets = routing.buckets;
	resolver->via_count = routing.count;
	resolver->bucket_mask = routing.mask;
	resolver->routes_changed = false;
	resolver->routed_ms = now_ms();
	refresh_all(resolver);
	if (any_made)
		rtnl_dump_neighbours(resolver->query, &events);
	probe_all(resolver);
	return 0;
}

/* Everything anew, after messages were lost. */
static void resync(struct gw_resolver *resolver)
{
	struct rtnl_events events = events_of(resolver);

	links_free(resolver);
	rtnl_dump_links(resolver->query, &events);
	rtnl_dump_neighbours(resolver->query, &events);
	resolver->routes_changed = true;
}

/* ---- the interface */

int gw_resolver_open(gw_resolver_change *change, void *owner, struct gw_resolver **out)
{
	struct gw_resolver *resolver = calloc(1, sizeof(*resolver));
	struct rtnl_events events;
	int error;

	if (!resolver)
		return -ENOMEM;
	resolver->change = change;
	resolver->owner = owner;
	events = events_of(resolver);
	resolver->listener = rtnl_open(true);
	resolver->query = resolver->listener ? rtnl_open(false) : NULL;
	error = resolver->query ? rtnl_dump_links(resolver->query, &events) : -errno;
	if (error) {
		gw_resolver_close(resolver);
		return error;
	}
	*out = resolver;
	return 0;
}

void gw_resolver_close(struct gw_resolver *resolver)
{
	if (!resolver)
		return;
	if (resolver->listener)
		mnl_socket_close(resolver->listener);
	if (resolver->query)
		mnl_socket_close(resolver->query);
	links_free(resolver);
	free(resolver->targets);
	free(resolver->vias);
	free(resolver->buckets);
	free(resolver);
}

static int by_address(const void *a, const void *b)
{
	return memcmp(((const struct target *)a)->resolved.address,
		((const struct target *)b)->resolved.address, 16);
}

static struct target *target_find(
	const struct gw_resolver *resolver, const uint8_t address[static 16])
{
	struct target key;

	if (!resolver->target_count)
		return NULL;
	memcpy(key.resolved.address, address, 16);
	return bsearch(&key, resolver->targets, resolver->target_count, sizeof(key), by_address);
}

int gw_resolver_track(struct gw_resolver *resolver, const uint8_t (*addresses)[16], size_t count)
{
	struct target *targets = calloc(count ? count : 1, sizeof(*targets));
	size_t kept = 0;

	if (!targets)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		const struct target *old = target_find(resolver, addresses[i]);

		if (old)
			targets[i] = *old;
		else
			targets[i].fresh = true;
		memcpy(targets[i].resolved.address, addresses[i], 16);
		targets[i].via = NONE;
	}
	qsort(targets, count, sizeof(*targets), by_address);
	for (size_t i = 0; i < count; i++)
		if (!kept || by_address(&targets[kept - 1], &targets[i]))
			targets[kept++] = targets[i];
	free(resolver->targets);
	resolver->targets = targets;
	resolver->target_count = kept;
	for (uint32_t i = 0; i < resolver->via_count; i++)
		resolver->vias[i].first_target = NONE;
	if (route_all(resolver))
		resolver->routes_changed = true; /* the next tick tries again */
	return 0;
}

int gw_resolver_fd(const struct gw_resolver *resolver)
{
	return mnl_socket_get_fd(resolver->listener);
}

/* A storm of route changes costs one pass in REROUTE_INTERVAL_MS. */
static void route_when_due(struct gw_resolver *resolver)
{
	if (resolver->routes_changed && now_ms() - resolver->routed_ms >= REROUTE_INTERVAL_MS)
		route_all(resolver);
}

int gw_resolver_process(struct gw_resolver *resolver)
{
	struct rtnl_events events = events_of(resolver);
	int error = rtnl_listen(resolver->listener, &events);

	if (error == -ENOBUFS || error == -EINTR) {
		resync(resolver);
		error = 0;
	}
	route_when_due(resolver);
	return error;
}

void gw_resolver_tick(struct gw_resolver *resolver)
{
	route_when_due(resolver);
	probe_all(resolver);
}

const struct gw_resolved *gw_resolver_get(
	const struct gw_resolver *resolver, const uint8_t address[static 16])
{
	const struct target *target = target_find(resolver, address);

	return target ? &target->resolved : NULL;
}
