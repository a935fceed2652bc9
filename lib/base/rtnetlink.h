/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The few messages of NETLINK_ROUTE that the resolver needs, as plain structs: requests in batches,
 * answers and reports parsed. Stateless apart from two sockets: one for questions (answered before
 * the call returns) and one that receives reports. RFC 3549; <linux/rtnetlink.h>,
 * <linux/neighbour.h>.
 */
#pragma once

#include "abi/types.h"

#include <libmnl/libmnl.h>

#include <net/if.h>

#define GW_ROUTE_PATHS 16

struct gw_route_path {
	uint32_t ifindex;
	bool has_gateway;
	uint16_t weight;	   /* 1 to 256 */
	struct gw_address gateway; /* may be IPv6 for an IPv4 route (RFC 5549) */
};

/* A route as far as forwarding goes; path_count 0 when it leads nowhere. */
struct gw_route {
	uint32_t path_count;
	uint32_t mtu; /* metric; 0: none */
	struct gw_route_path paths[GW_ROUTE_PATHS];
};

struct gw_link_report {
	uint32_t ifindex;
	uint32_t mtu;
	uint32_t parent; /* of a VLAN device: the link that its frames leave by, tagged */
	uint16_t vlan;	 /* of a VLAN device: its id; 0: none */
	bool gone;
	bool up; /* administratively and by its carrier */
	bool ethernet;
	uint8_t mac[6];
	char name[IF_NAMESIZE];
};

struct gw_neighbour_report {
	uint32_t ifindex;
	uint16_t state; /* NUD_*; 0 when the entry is gone */
	bool has_mac;
	uint8_t mac[6];
	struct gw_address address;
};

/* Addresses whose route may have changed. */
struct gw_route_report {
	struct gw_address prefix;
	uint8_t length; /* of the 16-byte form; 0: any address */
};

struct gw_rtnetlink {
	struct mnl_socket *requests;
	struct mnl_socket *reports;
	uint32_t sequence;
};

/* What the reader of reports and dumps wants to hear of; a NULL function ignores its kind. */
struct gw_rtnetlink_sink {
	void *context;
	void (*link)(void *context, const struct gw_link_report *report);
	void (*neighbour)(void *context, const struct gw_neighbour_report *report);
	void (*route)(void *context, const struct gw_route_report *report);
};

/* Opens both sockets and joins the groups. Returns 0 or -errno. */
int gw_rtnetlink_open(struct gw_rtnetlink *netlink);

/* Closes what is open. */
void gw_rtnetlink_close(struct gw_rtnetlink *netlink);

/* Reads all links (RTM_GETLINK) or all neighbours (RTM_GETNEIGH) into the sink. Returns 0 or
 * -errno. */
int gw_rtnetlink_dump(
	struct gw_rtnetlink *netlink, uint16_t type, const struct gw_rtnetlink_sink *sink);

/* Hands every report that waits to the sink, without blocking. Returns 0, -ENOBUFS when some were
 * lost, or -errno. */
int gw_rtnetlink_read(struct gw_rtnetlink *netlink, const struct gw_rtnetlink_sink *sink);

/*
 * Looks up the routes of `count` addresses, in batches; answer(context, i, route) is called once
 * for each, in any order; an address without a route gets one with path_count 0. Returns 0 or
 * -errno (then some got no answer).
 */
int gw_rtnetlink_lookup(struct gw_rtnetlink *netlink, const struct gw_address *addresses,
	size_t count, void (*answer)(void *context, size_t index, const struct gw_route *route),
	void *context);

enum gw_neighbour_action {
	GW_NEIGHBOUR_PROBE,   /* ask the neighbour whether it still has its MAC; it stays in use */
	GW_NEIGHBOUR_RESOLVE, /* ask by broadcast for a neighbour that is missing or failed */
	GW_NEIGHBOUR_RESTART, /* forget the MAC, then as RESOLVE */
};

struct gw_neighbour_request {
	uint32_t ifindex;
	enum gw_neighbour_action action;
	struct gw_address address;
};

/*
 * Sends the requests in batches. What the kernel refuses for one neighbour (it has vanished, the
 * table is full) is passed over: the reports tell what is. Returns 0 or -errno of the socket.
 */
int gw_rtnetlink_neighbours(
	struct gw_rtnetlink *netlink, const struct gw_neighbour_request *requests, size_t count);
