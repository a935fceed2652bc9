/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Next hops, live: for a set of underlay addresses it tells by which interface, from which MAC and
 * to which MAC a frame leaves, as the kernel's routes and neighbours say, and says so again
 * whenever that changes.
 *
 * Traffic that bypasses the kernel never refreshes its neighbours, so the resolver does: each
 * neighbour in use is probed every half second (RTM_NEWNEIGH, NUD_PROBE: one unicast request, the
 * entry stays valid). One that leaves the request unanswered for a tick is asked for by broadcast,
 * so that a gateway that changed its MAC without announcing it is followed within a second.
 * Meanwhile the last known MAC goes on being the answer; only when the kernel gives up is the
 * address unresolved. A failed one is asked for again each half second. Many addresses behind one
 * gateway share its probe.
 *
 * No thread, no lock: the owner polls gw_resolver_fd, calls gw_resolver_process when it is readable
 * and gw_resolver_tick every GW_RESOLVER_TICK_MS. It lives in the network namespace it was opened
 * in.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define GW_RESOLVER_TICK_MS 200

struct gw_resolver;

enum gw_resolution {
	GW_RESOLUTION_PENDING,	/* a route, no link-layer address (yet) */
	GW_RESOLUTION_NO_ROUTE, /* no route, or its interface is down */
	GW_RESOLUTION_DONE,
};

struct gw_resolved {
	uint8_t address[16]; /* the tracked one; base/address.h */
	uint8_t gateway[16]; /* whose link-layer address it is: a router's, or the address itself */
	enum gw_resolution state;
	uint32_t ifindex; /* egress interface; 0 without a route */
	uint32_t mtu;	  /* of the route, else of the interface */
	uint8_t destination_mac[6];
	uint8_t source_mac[6];
};

/* Called from track, process and tick, once for each address whose answer changed. */
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

/* Reads what the kernel tells; never blocks. Returns 0 or -errno when netlink is broken for good.
 */
int gw_resolver_process(struct gw_resolver *resolver);

void gw_resolver_tick(struct gw_resolver *resolver);

/* NULL for an address that is not tracked. Valid until the next call of track. */
const struct gw_resolved *gw_resolver_get(
	const struct gw_resolver *resolver, const uint8_t address[static 16]);
