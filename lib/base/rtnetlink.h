/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The few rtnetlink messages (RFC 3549) that the resolver needs, as plain structs. One socket asks
 * and is answered, one listens to what changes. Internal to lib/base.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct mnl_socket;

struct rtnl_route {
	bool found; /* a unicast route */
	bool has_gateway;
	uint8_t gateway[16];
	uint32_t ifindex;
	uint32_t mtu; /* 0: none of its own */
};

struct rtnl_link {
	uint32_t ifindex;
	bool gone;
	bool up; /* administratively up, with carrier */
	bool has_mac;
	uint8_t mac[6];
	uint32_t mtu;
};

struct rtnl_neighbour {
	uint32_t ifindex;
	uint8_t address[16];
	uint16_t state; /* NUD_*; 0 when it was deleted */
	bool has_mac;
	uint8_t mac[6];
};

/* What the listening socket or a dump hands over. */
struct rtnl_events {
	void *owner;
	void (*link)(void *owner, const struct rtnl_link *link);
	void (*neighbour)(void *owner, const struct rtnl_neighbour *neighbour);
	void (*route)(void *owner); /* some route or rule changed */
};

struct mnl_socket *rtnl_open(bool listen);

/* The kernel's route to an address. 0, or -errno when netlink failed (no route is not a failure).
 */
int rtnl_get_route(
	struct mnl_socket *socket, const uint8_t address[static 16], struct rtnl_route *route);

/* All links, all neighbours. */
int rtnl_dump_links(struct mnl_socket *socket, const struct rtnl_events *events);
int rtnl_dump_neighbours(struct mnl_socket *socket, const struct rtnl_events *events);

/*
 * Sets a neighbour's state (0: leaves it) with flags NTF_*, creating it when it is missing. The
 * kernel's refusal is returned as -errno.
 */
int rtnl_set_neighbour(struct mnl_socket *socket, uint32_t ifindex,
	const uint8_t address[static 16], uint16_t state, uint8_t flags);

/* Reads all that waits on the listening socket: 0, -ENOBUFS when messages were lost, or -errno. */
int rtnl_listen(struct mnl_socket *socket, const struct rtnl_events *events);
