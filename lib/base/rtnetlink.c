/* SPDX-License-Identifier: BSD-2-Clause */
#include "rtnetlink.h"

#include "base/address.h"

#include <libmnl/libmnl.h>

#include <errno.h>
#include <linux/if.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <sys/socket.h>

#define BUFFER_SIZE 32768

static const uint8_t mapped_prefix[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

static bool is_ipv4(const uint8_t address[static 16])
{
	return !memcmp(address, mapped_prefix, sizeof(mapped_prefix));
}

struct mnl_socket *rtnl_open(bool listen)
{
	static const int groups[] = {RTNLGRP_LINK, RTNLGRP_NEIGH, RTNLGRP_IPV4_ROUTE,
		RTNLGRP_IPV6_ROUTE, RTNLGRP_IPV4_RULE, RTNLGRP_IPV6_RULE, RTNLGRP_NEXTHOP};
	struct mnl_socket *socket =
		mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC | (listen ? SOCK_NONBLOCK : 0));
	int size = 1 << 20;

	if (!socket)
		return NULL;
	if (mnl_socket_bind(socket, 0, MNL_SOCKET_AUTOPID) < 0)
		goto fail;
	if (listen) {
		/* A larger buffer loses less under a storm; what is lost all the same is read anew.
		 */
		setsockopt(mnl_socket_get_fd(socket), SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
		for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++) {
			int group = groups[i];

			if (mnl_socket_setsockopt(
				    socket, NETLINK_ADD_MEMBERSHIP, &group, sizeof(group)) < 0)
				goto fail;
		}
	}
	return socket;
fail:
	mnl_socket_close(socket);
	return NULL;
}

/* Sends one request and hands each answer to `take`; dumps end by themselves. */
static int ask(struct mnl_socket *socket, struct nlmsghdr *request, mnl_cb_t take, void *data)
{
	static uint32_t sequence;
	_Alignas(8) char buffer[BUFFER_SIZE];
	unsigned int port = mnl_socket_get_portid(socket);
	int result;

	request->nlmsg_seq = ++sequence;
	if (mnl_socket_sendto(socket, request, request->nlmsg_len) < 0)
		return -errno;
	do {
		ssize_t length = mnl_socket_recvfrom(socket, buffer, sizeof(buffer));

		if (length < 0)
			return -errno;
		result = mnl_cb_run(buffer, (size_t)length, request->nlmsg_seq, port, take, data);
		if (result < 0)
			return -errno;
	} while (result > MNL_CB_STOP);
	return 0;
}

static void put_address(struct nlmsghdr *message, uint16_t type, const uint8_t address[static 16])
{
	if (is_ipv4(address))
		mnl_attr_put(message, type, 4, address + 12);
	else
		mnl_attr_put(message, type, 16, address);
}

/* An address attribute by its length: 4 or 16 bytes. */
static bool read_address(const void *bytes, size_t length, uint8_t address[static 16])
{
	if (length == 4) {
		memcpy(address, mapped_prefix, sizeof(mapped_prefix));
		memcpy(address + 12, bytes, 4);
		return true;
	}
	if (length == 16)
		memcpy(address, bytes, 16);
	return length == 16;
}

static bool attribute_address(const struct nlattr *attribute, uint8_t address[static 16])
{
	return read_address(
		mnl_attr_get_payload(attribute), mnl_attr_get_payload_len(attribute), address);
}

static uint32_t metric_mtu(const struct nlattr *metrics)
{
	const struct nlattr *metric;

	mnl_attr_for_each_nested(metric, metrics)
	{
		if (mnl_attr_get_type(metric) == RTAX_MTU)
			return mnl_attr_get_u32(metric);
	}
	return 0;
}

static int take_route(const struct nlmsghdr *message, void *data)
{
	const struct rtmsg *head = mnl_nlmsg_get_payload(message);
	struct rtnl_route *route = data;
	const struct nlattr *attribute;

	if (message->nlmsg_type != RTM_NEWROUTE || head->rtm_type != RTN_UNICAST)
		return MNL_CB_STOP;
	mnl_attr_for_each(attribute, message, sizeof(*head))
	{
		switch (mnl_attr_get_type(attribute)) {
		case RTA_OIF:
			route->ifindex = mnl_attr_get_u32(attribute);
			break;
		case RTA_GATEWAY:
			route->has_gateway = attribute_address(attribute, route->gateway);
			break;
		case RTA_VIA: {
			/* An IPv4 route by an IPv6 router (RFC 5549): family, then the address. */
			const uint8_t *via = mnl_attr_get_payload(attribute);
			size_t length = mnl_attr_get_payload_len(attribute);

			if (length > 2)
				route->has_gateway =
					read_address(via + 2, length - 2, route->gateway);
			break;
		}
		case RTA_METRICS:
			route->mtu = metric_mtu(attribute);
			break;
		default:
			break;
		}
	}
	route->found = route->ifindex != 0;
	return MNL_CB_STOP;
}

int rtnl_get_route(
	struct mnl_socket *socket, const uint8_t address[static 16], struct rtnl_route *route)
{
	_Alignas(8) char buffer[256];
	struct nlmsghdr *message = mnl_nlmsg_put_header(buffer);
	struct rtmsg *head;
	int error;

	message->nlmsg_type = RTM_GETROUTE;
	message->nlmsg_flags = NLM_F_REQUEST;
	head = mnl_nlmsg_put_extra_header(message, sizeof(*head));
	head->rtm_family = is_ipv4(address) ? AF_INET : AF_INET6;
	head->rtm_dst_len = is_ipv4(address) ? 32 : 128;
	put_address(message, RTA_DST, address);
	*route = (struct rtnl_route){0};
	error = ask(socket, message, take_route, route);
	switch (error) {
	case -ENETUNREACH:
	case -EHOSTUNREACH:
	case -EACCES:
	case -EINVAL: /* blackhole, prohibit, and addresses no route can have */
	case -ENETDOWN:
	case -ENODEV:
		*route = (struct rtnl_route){0};
		return 0;
	default:
		return error;
	}
}

static void read_link(const struct nlmsghdr *message, struct rtnl_link *link)
{
	const struct ifinfomsg *head = mnl_nlmsg_get_payload(message);
	const struct nlattr *attribute;

	*link = (struct rtnl_link){
		.ifindex = (uint32_t)head->ifi_index,
		.gone = message->nlmsg_type == RTM_DELLINK,
		.up = (head->ifi_flags & IFF_UP) && (head->ifi_flags & IFF_LOWER_UP),
	};
	mnl_attr_for_each(attribute, message, sizeof(*head))
	{
		uint16_t type = mnl_attr_get_type(attribute);

		if (type == IFLA_MTU)
			link->mtu = mnl_attr_get_u32(attribute);
		if (type == IFLA_ADDRESS && mnl_attr_get_payload_len(attribute) == 6) {
			memcpy(link->mac, mnl_attr_get_payload(attribute), 6);
			link->has_mac = true;
		}
	}
}

static bool read_neighbour(const struct nlmsghdr *message, struct rtnl_neighbour *neighbour)
{
	const struct ndmsg *head = mnl_nlmsg_get_payload(message);
	const struct nlattr *attribute;
	bool found = false;

	*neighbour = (struct rtnl_neighbour){.ifindex = (uint32_t)head->ndm_ifindex,
		.state = message->nlmsg_type == RTM_DELNEIGH ? 0 : head->ndm_state};
	if (head->ndm_family != AF_INET && head->ndm_family != AF_INET6)
		return false;
	mnl_attr_for_each(attribute, message, sizeof(*head))
	{
		uint16_t type = mnl_attr_get_type(attribute);

		if (type == NDA_DST)
			found = attribute_address(attribute, neighbour->address);
		if (type == NDA_LLADDR && mnl_attr_get_payload_len(attribute) == 6) {
			memcpy(neighbour->mac, mnl_attr_get_payload(attribute), 6);
			neighbour->has_mac = true;
		}
	}
	return found;
}

static int take_event(const struct nlmsghdr *message, void *data)
{
	const struct rtnl_events *events = data;
	struct rtnl_neighbour neighbour;
	struct rtnl_link link;

	switch (message->nlmsg_type) {
	case RTM_NEWLINK:
	case RTM_DELLINK:
		/* A bridge tells of its ports in a family of its own: not the link itself. */
		if (((const struct ifinfomsg *)mnl_nlmsg_get_payload(message))->ifi_family !=
			AF_UNSPEC)
			break;
		read_link(message, &link);
		events->link(events->owner, &link);
		break;
	case RTM_NEWNEIGH:
	case RTM_DELNEIGH:
		if (read_neighbour(message, &neighbour))
			events->neighbour(events->owner, &neighbour);
		break;
	default:
		events->route(events->owner);
		break;
	}
	return MNL_CB_OK;
}

static int dump(struct mnl_socket *socket, uint16_t type, size_t head_size,
	const struct rtnl_events *events)
{
	_Alignas(8) char buffer[128];
	struct nlmsghdr *message = mnl_nlmsg_put_header(buffer);

	message->nlmsg_type = type;
	message->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
	mnl_nlmsg_put_extra_header(message, head_size);
	return ask(socket, message, take_event, (void *)events);
}

int rtnl_dump_links(struct mnl_socket *socket, const struct rtnl_events *events)
{
	return dump(socket, RTM_GETLINK, sizeof(struct ifinfomsg), events);
}

int rtnl_dump_neighbours(struct mnl_socket *socket, const struct rtnl_events *events)
{
	return dump(socket, RTM_GETNEIGH, sizeof(struct ndmsg), events);
}

int rtnl_set_neighbour(struct mnl_socket *socket, uint32_t ifindex,
	const uint8_t address[static 16], uint16_t state, uint8_t flags)
{
	_Alignas(8) char buffer[256];
	struct nlmsghdr *message = mnl_nlmsg_put_header(buffer);
	struct ndmsg *head;

	message->nlmsg_type = RTM_NEWNEIGH;
	message->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE | NLM_F_REPLACE;
	head = mnl_nlmsg_put_extra_header(message, sizeof(*head));
	head->ndm_family = is_ipv4(address) ? AF_INET : AF_INET6;
	head->ndm_ifindex = (int)ifindex;
	head->ndm_state = state;
	head->ndm_flags = flags;
	put_address(message, NDA_DST, address);
	return ask(socket, message, NULL, NULL);
}

int rtnl_listen(struct mnl_socket *socket, const struct rtnl_events *events)
{
	_Alignas(8) char buffer[BUFFER_SIZE];

	for (;;) {
		ssize_t length = mnl_socket_recvfrom(socket, buffer, sizeof(buffer));

		if (length < 0)
			return errno == EAGAIN ? 0 : -errno;
		if (mnl_cb_run(buffer, (size_t)length, 0, 0, take_event, (void *)events) < 0)
			return -errno;
	}
}
