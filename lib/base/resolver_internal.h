/* SPDX-License-Identifier: BSD-2-Clause */
/* The resolver's inside, shared by resolver.c (addresses and their routes) and
 * resolver_neighbour.c. */
#pragma once

#include "base/resolver.h"
#include "base/rtnetlink.h"

/*
 * Ownership: the resolver owns targets (sorted by address), neighbours and links (search trees). A
 * target owns its paths; each path is also in its neighbour's list of users, so that a neighbour's
 * change reaches just those who use it. A neighbour lives as long as it has users.
 */
struct path {
	struct target *target;
	struct neighbour *neighbour;
	struct path *next, *previous; /* users of the same neighbour */
	uint16_t weight;
};

struct target {
	struct gw_address address;
	uint32_t route_mtu;
	uint32_t path_count;
	bool dirty;    /* its route is to be looked up */
	bool answered; /* its route has been looked up, not yet evaluated */
	bool reported; /* the callback knows of it */
	struct path *paths;
	struct gw_way *ways; /* resolved.ways */
	struct gw_resolved resolved;
};

struct neighbour {
	uint32_t ifindex;
	struct gw_address address;
	uint16_t nud;
	bool has_mac;	/* usable, or was so and has not failed since */
	bool resolving; /* asked for by RESOLVE or RESTART since it was last usable */
	bool probing;	/* state NUD_PROBE has been seen or caused since `asked_ms` */
	uint8_t mac[6];
	int64_t asked_ms; /* when it was last probed or asked for; 0: never */
	struct path *users;
};

struct gw_resolver {
	struct gw_rtnetlink netlink;
	gw_resolver_change *change;
	void *owner;
	struct target **targets;
	size_t target_count;
	size_t dirty_count;
	void *neighbours; /* tsearch(3) */
	size_t neighbour_count;
	void *links; /* tsearch(3), struct gw_link_report */
	bool neighbours_added;
	bool links_changed;
	int64_t looked_up_ms;
	int64_t now_ms;
	struct gw_neighbour_request *requests; /* scratch of the tick */
	size_t request_count;
};

/* resolver.c: finds out what is known of the target now, and tells when that is news. */
void gw_resolver_evaluate(struct gw_resolver *resolver, struct target *target);

/* Returns NULL for a link that does not exist. */
struct gw_link_report *gw_resolver_link(const struct gw_resolver *resolver, uint32_t ifindex);

/* Takes a report. Returns true when it changes something. */
bool gw_resolver_link_set(struct gw_resolver *resolver, const struct gw_link_report *report);

/* Takes a report and evaluates those who use the neighbour. */
void gw_resolver_neighbour_set(
	struct gw_resolver *resolver, const struct gw_neighbour_report *report);

/* Finds or makes a neighbour; NULL without memory. It goes when neighbour_release() finds it
 * without users. */
struct neighbour *gw_resolver_neighbour_hold(
	struct gw_resolver *resolver, uint32_t ifindex, const struct gw_address *address);
void gw_resolver_neighbour_release(struct gw_resolver *resolver, struct neighbour *neighbour);

/* Probes, retries and restarts what is due at now_ms. Returns 0 or -errno. */
int gw_resolver_neighbours_ask(struct gw_resolver *resolver);

/* Before everything is read anew: what is not reported then is gone. */
void gw_resolver_forget(struct gw_resolver *resolver);
