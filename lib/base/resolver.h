/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Next hops, live: for a set of underlay addresses it tells by which interface, from which MAC and
 * to which MAC a frame leaves, as the kernel's routes and neighbours say (rules, next-hop objects
 * and multipath routes included), and says so again whenever that changes.
 *
 * Traffic that bypasses the kernel never refreshes its neighbours, so the resolver does:
 *
 * - each neighbour in use is probed every 600 ms by setting it to NUD_PROBE: the kernel sends a
 * unicast request at once and goes on forwarding with the address it has. (NTF_USE on a stale entry
 * only starts the kernel's five second delay, and does nothing at all to a reachable one.)
 * - a probe without an answer after one tick is followed by a broadcast: NUD_NONE, then NTF_USE. So
 * a gateway that changed its MAC without announcing it is followed within a second; one that
 * announces it, at once. (NUD_INCOMPLETE instead of NUD_NONE leaves an entry that the kernel never
 * asks for again.)
 * - one that failed or is missing is asked for once a second.
 *
 * Meanwhile the last known MAC goes on being the answer; only when the kernel gives up is the
 * address unresolved. Entries that an administrator made permanent are used and left alone. Many
 * addresses behind one gateway share its probe. Of a multipath route or a group of next-hop objects
 * all ways are told, each with its state and weight, besides the one that is best for the address.
 *
 * No thread, no lock: the owner polls gw_resolver_fd, calls gw_resolver_process when it is readable
 * and gw_resolver_tick every GW_RESOLVER_TICK_MS. It lives in the network namespace it was opened
 * in, and needs CAP_NET_ADMIN there.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GW_RESOLVER_TICK_MS 200

struct gw_resolver;

enum gw_resolution {
	GW_RESOLUTION_PENDING,	/* a route, no link-layer address (yet) */
	GW_RESOLUTION_NO_ROUTE, /* no route, one that leads nowhere, or its interface is down */
	GW_RESOLUTION_DONE,
};

/* One way to an address: a route has one, a multipath route or a group of next hops several. */
struct gw_way {
	uint8_t gateway[16]; /* whose link-layer address it is: a router's, or the address itself */
	enum gw_resolution state;
	uint32_t ifindex; /* egress interface, of a VLAN device its parent; 0 without a route */
	uint32_t mtu;	  /* of the interface, or of the route where that is lower */
	uint16_t vlan;	  /* id of the VLAN device that the route names; 0: none */
	uint16_t weight;  /* among the ways, 1 to 256 */
	uint8_t destination_mac[6];
	uint8_t source_mac[6];
	bool on_link; /* the gateway is the address itself: no router in between */
	uint8_t reserved[3];
};

#define GW_WAYS_MAX 16

struct gw_resolved {
	uint8_t address[16]; /* the tracked one; base/address.h */
	struct gw_way way;   /* the best of them */
	/* All of them, in the kernel's order, when there are several. The resolver's; valid during
	 * the callback, or until the next call of anything. */
	const struct gw_way *ways;
	uint32_t way_count; /* 0: `way` is all there is */
};

/*
 * Called from track, process and tick, once for each address whose answer changed. Must not call
 * the resolver.
 */
typedef void gw_resolver_change(void *owner, const struct gw_resolved *resolved);

/* Returns 0 or -errno (netlink refused, no memory). The caller owns *out. */
int gw_resolver_open(gw_resolver_change *change, void *owner, struct gw_resolver **out);
void gw_resolver_close(struct gw_resolver *resolver); /* NULL is fine */

/*
 * The set of addresses from now on; duplicates count once. Those that were in it keep their state.
 * Returns 0 or -ENOMEM, then the set is as before.
 */
int gw_resolver_track(struct gw_resolver *resolver, const uint8_t (*addresses)[16], size_t count);

int gw_resolver_fd(const struct gw_resolver *resolver);

/* Reads what the kernel tells; never blocks. Returns 0 or -errno of netlink; the next tick tries
 * again. */
int gw_resolver_process(struct gw_resolver *resolver);

/* Also reads first, so that no neighbour is asked anew whose answer is only unread. */
void gw_resolver_tick(struct gw_resolver *resolver);

/* NULL for an address that is not tracked. Valid until the next call of track. */
const struct gw_resolved *gw_resolver_get(
	const struct gw_resolver *resolver, const uint8_t address[static 16]);
