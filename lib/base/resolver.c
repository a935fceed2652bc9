/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/address.h"
#include "base/resolver_internal.h"

#include <errno.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Above so many addresses at once, routes are looked up at most this often, whatever changes. */
#define STORM_ADDRESSES	  256
#define STORM_INTERVAL_MS 100
#define LOOKUP_CHUNK	  64

static int64_t clock_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int address_compare(const struct gw_address *a, const struct gw_address *b)
{
	return memcmp(a->bytes, b->bytes, sizeof(a->bytes));
}

_Static_assert(GW_WAYS_MAX == GW_ROUTE_PATHS, "each path of a route is a way");

static void path_link(struct path *path)
{
	path->previous = NULL;
	path->next = path->neighbour->users;
	if (path->next)
		path->next->previous = path;
	path->neighbour->users = path;
}

static void paths_free(struct gw_resolver *resolver, struct path *paths, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		struct path *path = &paths[i];

		if (path->previous)
			path->previous->next = path->next;
		else
			path->neighbour->users = path->next;
		if (path->next)
			path->next->previous = path->previous;
		gw_resolver_neighbour_release(resolver, path->neighbour);
	}
	free(paths);
}

static void target_free(struct gw_resolver *resolver, struct target *target)
{
	paths_free(resolver, target->paths, target->path_count);
	free(target->ways);
	free(target);
}

/* Spreads addresses over the paths of a multipath route; which path an address gets only has to
 * stay the same. */
static uint32_t address_spread(const struct gw_address *address)
{
	uint32_t hash = 2166136261u; /* FNV-1a */

	for (size_t i = 0; i < sizeof(address->bytes); i++)
		hash = (hash ^ address->bytes[i]) * 16777619u;
	return hash;
}

/* The answer by one path. Without its link it is as without a route. */
static void path_resolve(const struct gw_resolver *resolver, const struct target *target,
	const struct path *path, struct gw_way *way)
{
	const struct neighbour *neighbour = path->neighbour;
	const struct gw_link_report *link = gw_resolver_link(resolver, neighbour->ifindex), *parent;

	memset(way, 0, sizeof(*way)); /* compared whole */
	way->state = GW_RESOLUTION_NO_ROUTE;
	way->weight = path->weight;
	memcpy(way->gateway, neighbour->address.bytes, 16);
	way->on_link = !address_compare(&neighbour->address, &target->address);
	way->ifindex = neighbour->ifindex;
	if (!link || !link->up)
		return;
	way->state = GW_RESOLUTION_PENDING;
	way->mtu = link->mtu;
	if (target->route_mtu && target->route_mtu < link->mtu)
		way->mtu = target->route_mtu;
	if (link->vlan) {
		way->vlan = link->vlan;
		way->ifindex = link->parent;
		parent = gw_resolver_link(resolver, link->parent);
		if (!parent || parent->vlan) /* a tag within a tag is more than a frame gets */
			return;
	}
	if (!link->ethernet || !neighbour->has_mac)
		return;
	way->state = GW_RESOLUTION_DONE;
	memcpy(way->source_mac, link->mac, 6);
	memcpy(way->destination_mac, neighbour->mac, 6);
}

/* The best of the ways, beginning with the one that the address's hash names. */
static void target_resolve(const struct target *target, const struct gw_way *ways, uint32_t count,
	struct gw_resolved *resolved)
{
	uint32_t first = count ? address_spread(&target->address) % count : 0;

	memset(resolved, 0, sizeof(*resolved));
	memcpy(resolved->address, target->address.bytes, 16);
	resolved->way.state = GW_RESOLUTION_NO_ROUTE;
	for (uint32_t i = 0; i < count && resolved->way.state != GW_RESOLUTION_DONE; i++) {
		const struct gw_way *other = &ways[(first + i) % count];

		if (other->state == GW_RESOLUTION_DONE ||
			(other->state == GW_RESOLUTION_PENDING &&
				resolved->way.state == GW_RESOLUTION_NO_ROUTE))
			resolved->way = *other;
	}
}

/* Keeps a copy of the ways for the answer; without memory there is only the best. */
static void ways_keep(struct target *target, const struct gw_way *ways, uint32_t count)
{
	free(target->ways);
	target->ways = count ? malloc(count * sizeof(*ways)) : NULL;
	if (target->ways)
		memcpy(target->ways, ways, count * sizeof(*ways));
	target->resolved.ways = target->ways;
	target->resolved.way_count = target->ways ? count : 0;
}

void gw_resolver_evaluate(struct gw_resolver *resolver, struct target *target)
{
	struct gw_way ways[GW_ROUTE_PATHS];
	uint32_t count = target->path_count;
	struct gw_resolved resolved;

	for (uint32_t i = 0; i < count; i++)
		path_resolve(resolver, target, &target->paths[i], &ways[i]);
	target_resolve(target, ways, count, &resolved);
	if (count < 2)
		count = 0;
	resolved.ways = target->ways;
	resolved.way_count = count;
	if (target->reported && !memcmp(&resolved, &target->resolved, sizeof(resolved)) &&
		(!count || !memcmp(ways, target->ways, count * sizeof(*ways))))
		return;
	target->resolved = resolved;
	ways_keep(target, ways, count);
	target->reported = true;
	resolver->change(resolver->owner, &target->resolved);
}

static void target_mark(struct gw_resolver *resolver, struct target *target)
{
	resolver->dirty_count += !target->dirty;
	target->dirty = true;
}

static void all_targets_mark(struct gw_resolver *resolver)
{
	for (size_t i = 0;
		resolver->dirty_count < resolver->target_count && i < resolver->target_count; i++)
		target_mark(resolver, resolver->targets[i]);
}

static void all_targets_evaluate(struct gw_resolver *resolver)
{
	for (size_t i = 0; i < resolver->target_count; i++)
		gw_resolver_evaluate(resolver, resolver->targets[i]);
}

static bool target_has_paths(const struct target *target, const struct gw_route *route)
{
	if (target->path_count != route->path_count)
		return false;
	for (uint32_t i = 0; i < route->path_count; i++) {
		const struct gw_route_path *path = &route->paths[i];
		const struct gw_address *via =
			path->has_gateway ? &path->gateway : &target->address;

		if (target->paths[i].neighbour->ifindex != path->ifindex ||
			target->paths[i].weight != path->weight ||
			address_compare(&target->paths[i].neighbour->address, via))
			return false;
	}
	return true;
}

/* Replaces the target's paths. Without memory it keeps the old ones. */
static int target_set_route(
	struct gw_resolver *resolver, struct target *target, const struct gw_route *route)
{
	struct path *paths = NULL, *old = target->paths;
	uint32_t old_count = target->path_count, count = 0;

	if (route->path_count) {
		paths = calloc(route->path_count, sizeof(*paths));
		if (!paths)
			return -ENOMEM;
	}
	for (; count < route->path_count; count++) {
		const struct gw_route_path *path = &route->paths[count];

		paths[count].target = target;
		paths[count].weight = path->weight;
		paths[count].neighbour = gw_resolver_neighbour_hold(resolver, path->ifindex,
			path->has_gateway ? &path->gateway : &target->address);
		if (!paths[count].neighbour) {
			paths_free(resolver, paths, count);
			return -ENOMEM;
		}
		path_link(&paths[count]);
	}
	target->paths = paths;
	target->path_count = count;
	paths_free(resolver, old, old_count);
	return 0;
}

struct lookup_chunk {
	struct gw_resolver *resolver;
	struct target *targets[LOOKUP_CHUNK];
	struct gw_address addresses[LOOKUP_CHUNK];
	size_t count;
	int error;
};

static void route_answer(void *context, size_t index, const struct gw_route *route)
{
	struct lookup_chunk *chunk = context;
	struct target *target = chunk->targets[index];

	if (!target_has_paths(target, route) && target_set_route(chunk->resolver, target, route)) {
		chunk->error = -ENOMEM; /* stays marked, so that a later tick tries again */
		return;
	}
	target->route_mtu = route->mtu;
	target->dirty = false;
	target->answered = true;
	chunk->resolver->dirty_count--;
}

static int chunk_run(struct lookup_chunk *chunk)
{
	int error = gw_rtnetlink_lookup(
		&chunk->resolver->netlink, chunk->addresses, chunk->count, route_answer, chunk);

	chunk->count = 0;
	return error ? error : chunk->error;
}

static void link_report(void *context, const struct gw_link_report *report)
{
	struct gw_resolver *resolver = context;

	if (!gw_resolver_link_set(resolver, report))
		return;
	/* A link that goes down takes routes with it that the kernel does not report (IPv4). */
	all_targets_mark(resolver);
	resolver->links_changed = true;
}

static void neighbour_report(void *context, const struct gw_neighbour_report *report)
{
	gw_resolver_neighbour_set(context, report);
}

/* Marks the tracked addresses within the prefix: they are neighbours in the sorted array. */
static void route_report(void *context, const struct gw_route_report *report)
{
	struct gw_resolver *resolver = context;
	struct gw_prefix prefix = {.length = report->length};
	size_t low = 0, high = resolver->target_count;

	if (!report->length || resolver->dirty_count == resolver->target_count) {
		all_targets_mark(resolver);
		return;
	}
	memcpy(prefix.address, report->prefix.bytes, 16);
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (address_compare(&resolver->targets[middle]->address, &report->prefix) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < resolver->target_count; low++) {
		struct target *target = resolver->targets[low];

		if (!gw_prefix_contains(&prefix, target->address.bytes))
			break;
		target_mark(resolver, target);
	}
}

static struct gw_rtnetlink_sink resolver_sink(struct gw_resolver *resolver)
{
	return (struct gw_rtnetlink_sink){
		.context = resolver,
		.link = link_report,
		.neighbour = neighbour_report,
		.route = route_report,
	};
}

/* Learns what the kernel already knows of neighbours that were just added, and asks for the rest.
 */
static int neighbours_added_read(struct gw_resolver *resolver)
{
	struct gw_rtnetlink_sink sink = resolver_sink(resolver);
	int error;

	if (!resolver->neighbours_added)
		return 0;
	resolver->neighbours_added = false;
	sink.link = NULL;
	error = gw_rtnetlink_dump(&resolver->netlink, RTM_GETNEIGH, &sink);
	return error ? error : gw_resolver_neighbours_ask(resolver);
}

/* Looks up the routes of all marked targets. */
static int dirty_targets_resolve(struct gw_resolver *resolver)
{
	struct lookup_chunk chunk = {.resolver = resolver};
	int error = 0;

	if (!resolver->dirty_count)
		return 0;
	resolver->looked_up_ms = resolver->now_ms;
	for (size_t i = 0; i < resolver->target_count && !error; i++) {
		struct target *target = resolver->targets[i];

		if (!target->dirty)
			continue;
		chunk.targets[chunk.count] = target;
		chunk.addresses[chunk.count++] = target->address;
		if (chunk.count == LOOKUP_CHUNK)
			error = chunk_run(&chunk);
	}
	if (!error && chunk.count)
		error = chunk_run(&chunk);
	if (!error)
		error = neighbours_added_read(resolver);
	/* Only now, so that a neighbour which the kernel knows already is not reported as
	 * unresolved before. */
	for (size_t i = 0; i < resolver->target_count; i++) {
		if (resolver->targets[i]->answered)
			gw_resolver_evaluate(resolver, resolver->targets[i]);
		resolver->targets[i]->answered = false;
	}
	return error;
}

/* Reads everything anew: at the start, and when the kernel had to throw reports away. */
static int everything_read(struct gw_resolver *resolver)
{
	struct gw_rtnetlink_sink sink = resolver_sink(resolver);
	int error;

	gw_resolver_forget(resolver);
	all_targets_mark(resolver);
	resolver->links_changed = true;
	error = gw_rtnetlink_dump(&resolver->netlink, RTM_GETLINK, &sink);
	return error ? error : gw_rtnetlink_dump(&resolver->netlink, RTM_GETNEIGH, &sink);
}

static int reports_read(struct gw_resolver *resolver)
{
	struct gw_rtnetlink_sink sink = resolver_sink(resolver);
	int error = gw_rtnetlink_read(&resolver->netlink, &sink);

	resolver->now_ms = clock_ms();
	if (error == -ENOBUFS)
		error = everything_read(resolver);
	if (resolver->links_changed) {
		resolver->links_changed = false;
		all_targets_evaluate(resolver);
	}
	return error;
}

int gw_resolver_process(struct gw_resolver *resolver)
{
	int error = reports_read(resolver);

	if (error)
		return error;
	if (resolver->dirty_count > STORM_ADDRESSES &&
		resolver->now_ms - resolver->looked_up_ms < STORM_INTERVAL_MS)
		return 0; /* the next tick at the latest */
	return dirty_targets_resolve(resolver);
}

void gw_resolver_tick(struct gw_resolver *resolver)
{
	/* What fails here is still marked, or due again: the next tick repeats it. */
	if (reports_read(resolver) || dirty_targets_resolve(resolver))
		return;
	gw_resolver_neighbours_ask(resolver);
}

int gw_resolver_open(gw_resolver_change *change, void *owner, struct gw_resolver **out)
{
	struct gw_resolver *opened = calloc(1, sizeof(*opened));
	int error;

	if (!opened)
		return -ENOMEM;
	opened->change = change;
	opened->owner = owner;
	error = gw_rtnetlink_open(&opened->netlink);
	if (!error)
		error = everything_read(opened);
	if (error) {
		gw_resolver_close(opened);
		return error;
	}
	*out = opened;
	return 0;
}

void gw_resolver_close(struct gw_resolver *resolver)
{
	if (!resolver)
		return;
	for (size_t i = 0; i < resolver->target_count; i++)
		target_free(resolver, resolver->targets[i]);
	free(resolver->targets);
	tdestroy(resolver->links, free);
	free(resolver->requests);
	gw_rtnetlink_close(&resolver->netlink);
	free(resolver);
}

int gw_resolver_fd(const struct gw_resolver *resolver)
{
	return mnl_socket_get_fd(resolver->netlink.reports);
}

static int target_pointer_compare(const void *left, const void *right)
{
	const struct target *const *a = left, *const *b = right;

	return address_compare(&(*a)->address, &(*b)->address);
}

/* Makes the sorted array of new targets, one for each distinct address. Returns NULL without
 * memory. */
static struct target **targets_make(const uint8_t (*addresses)[16], size_t count, size_t *made)
{
	struct target **targets = calloc(count ? count : 1, sizeof(struct target *));
	size_t distinct = 0;

	for (size_t i = 0; targets && i < count; i++) {
		targets[i] = calloc(1, sizeof(**targets));
		if (!targets[i]) {
			while (i--)
				free(targets[i]);
			free(targets);
			return NULL;
		}
		memcpy(targets[i]->address.bytes, addresses[i], 16);
	}
	if (!targets)
		return NULL;
	qsort(targets, count, sizeof(struct target *), target_pointer_compare);
	for (size_t i = 0; i < count; i++) {
		if (distinct &&
			!address_compare(&targets[distinct - 1]->address, &targets[i]->address))
			free(targets[i]);
		else
			targets[distinct++] = targets[i];
	}
	*made = distinct;
	return targets;
}

/* Carries what is known over to the new set; ends what is not in it. */
static void targets_replace(struct gw_resolver *resolver, struct target **targets, size_t count)
{
	struct target **old = resolver->targets;
	size_t old_count = resolver->target_count, at = 0;

	for (size_t i = 0; i < count; i++) {
		struct target *kept = NULL;

		while (at < old_count &&
			address_compare(&old[at]->address, &targets[i]->address) < 0)
			target_free(resolver, old[at++]);
		if (at < old_count && !address_compare(&old[at]->address, &targets[i]->address))
			kept = old[at++];
		if (kept) {
			free(targets[i]);
			targets[i] = kept;
		} else {
			targets[i]->dirty = true;
		}
	}
	while (at < old_count)
		target_free(resolver, old[at++]);
	free(old);
	resolver->targets = targets;
	resolver->target_count = count;
	resolver->dirty_count = 0;
	for (size_t i = 0; i < count; i++)
		resolver->dirty_count += targets[i]->dirty;
}

int gw_resolver_track(struct gw_resolver *resolver, const uint8_t (*addresses)[16], size_t count)
{
	size_t made = 0;
	struct target **fresh = targets_make(addresses, count, &made);

	if (!fresh)
		return -ENOMEM;
	targets_replace(resolver, fresh, made);
	resolver->now_ms = clock_ms();
	/* What is left after an error of netlink stays marked for the next tick. */
	(void)dirty_targets_resolve(resolver);
	for (size_t i = 0; i < made; i++)
		if (!fresh[i]->reported)
			gw_resolver_evaluate(resolver, fresh[i]);
	return 0;
}

const struct gw_resolved *gw_resolver_get(
	const struct gw_resolver *resolver, const uint8_t address[static 16])
{
	struct target key, *pointer = &key;
	struct target **found = NULL;

	memcpy(key.address.bytes, address, 16);
	if (resolver->target_count)
		found = bsearch(&pointer, resolver->targets, resolver->target_count,
			sizeof(struct target *), target_pointer_compare);
	return found ? &(*found)->resolved : NULL;
}
