/* SPDX-License-Identifier: BSD-2-Clause */
/* Questions to the kernel: which way an address goes, and whether its neighbour is there. */
#include "base/rtnetlink_internal.h"

#include <errno.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <sys/socket.h>

/* An answer to a route question takes up to 8 KiB of the socket's buffer, which may be as small as
 * 212992 bytes. */
#define LOOKUP_BATCH  16
#define REQUEST_BATCH 128

static void address_put(struct nlmsghdr *message, uint16_t type, const struct gw_address *address)
{
	if (gw_address_is_ipv4(address))
		mnl_attr_put(message, type, 4, address->bytes + 12);
	else
		mnl_attr_put(message, type, 16, address->bytes);
}

static uint8_t address_family(const struct gw_address *address)
{
	return gw_address_is_ipv4(address) ? AF_INET : AF_INET6;
}

/* Adds one path from the attributes of a route or of one of its next hops. */
static void path_add(struct gw_route *route, struct gw_route_path path, uint8_t family,
	uint8_t flags, const struct nlattr *first, size_t length)
{
	const struct nlattr *attr; /* the name libmnl's macro wants */
	bool usable = !(flags & (RTNH_F_DEAD | RTNH_F_LINKDOWN));

	mnl_attr_for_each_payload(first, length)
	{
		switch (mnl_attr_get_type(attr)) {
		case RTA_OIF:
			if (gw_rtnetlink_is_u32(attr))
				path.ifindex = mnl_attr_get_u32(attr);
			break;
		case RTA_GATEWAY:
			path.has_gateway = gw_rtnetlink_address(attr, family, &path.gateway);
			break;
		case RTA_VIA: {
			const struct rtvia *via = mnl_attr_get_payload(attr);

			if (mnl_attr_get_payload_len(attr) == sizeof(*via) + 16 &&
				via->rtvia_family == AF_INET6) {
				memcpy(path.gateway.bytes, via->rtvia_addr, 16);
				path.has_gateway = true;
			}
			break;
		}
		case RTA_ENCAP_TYPE: /* MPLS, SRv6: only the kernel can send there */
			usable = false;
			break;
		}
	}
	if (usable && path.ifindex && route->path_count < GW_ROUTE_PATHS)
		route->paths[route->path_count++] = path;
}

static void multipath_parse(struct gw_route *route, uint8_t family, const struct nlattr *attribute)
{
	const struct rtnexthop *hop = mnl_attr_get_payload(attribute);
	int left = mnl_attr_get_payload_len(attribute);

	for (; RTNH_OK(hop, left); left -= RTNH_ALIGN(hop->rtnh_len), hop = RTNH_NEXT(hop))
		path_add(route,
			(struct gw_route_path){.ifindex = (uint32_t)hop->rtnh_ifindex,
				.weight = (uint16_t)(hop->rtnh_hops + 1)},
			family, hop->rtnh_flags, (const struct nlattr *)RTNH_DATA(hop),
			(size_t)(hop->rtnh_len - RTNH_LENGTH(0)));
}

/* Returns true when the route names a next-hop object but not what is in it. */
static bool route_parse(const struct nlmsghdr *message, struct gw_route *route)
{
	const struct rtmsg *info = mnl_nlmsg_get_payload(message);
	const struct nlattr *attribute, *metric;
	bool object = false;

	memset(route, 0, sizeof(*route));
	if (mnl_nlmsg_get_payload_len(message) < sizeof(*info) || info->rtm_type != RTN_UNICAST)
		return false;
	mnl_attr_for_each(attribute, message, sizeof(*info))
	{
		switch (mnl_attr_get_type(attribute)) {
		case RTA_NH_ID:
			object = true;
			break;
		case RTA_MULTIPATH:
			multipath_parse(route, info->rtm_family, attribute);
			break;
		case RTA_METRICS:
			mnl_attr_for_each_nested(metric, attribute)
			{
				if (mnl_attr_get_type(metric) == RTAX_MTU &&
					gw_rtnetlink_is_u32(metric))
					route->mtu = mnl_attr_get_u32(metric);
			}
			break;
		}
	}
	if (!route->path_count)
		path_add(route, (struct gw_route_path){.weight = 1}, info->rtm_family,
			(uint8_t)info->rtm_flags,
			mnl_nlmsg_get_payload_offset(message, sizeof(*info)),
			mnl_nlmsg_get_payload_len(message) - MNL_ALIGN(sizeof(*info)));
	return object && !route->path_count;
}

static void route_request_put(struct nlmsghdr *message, uint32_t sequence,
	const struct gw_address *address, bool fib_match)
{
	struct rtmsg *info;

	message->nlmsg_type = RTM_GETROUTE;
	message->nlmsg_flags = NLM_F_REQUEST;
	message->nlmsg_seq = sequence;
	info = mnl_nlmsg_put_extra_header(message, sizeof(*info));
	info->rtm_family = address_family(address);
	info->rtm_dst_len = info->rtm_family == AF_INET ? 32 : 128;
	info->rtm_flags = fib_match ? RTM_F_FIB_MATCH : 0;
	address_put(message, RTA_DST, address);
}

/* One batch of route questions; question i has sequence `first` + i and gets exactly one answer. */
struct lookup {
	const struct gw_address *addresses;
	size_t count;
	uint32_t first;
	size_t answered;
	bool again[LOOKUP_BATCH]; /* ask without RTM_F_FIB_MATCH */
	size_t again_count;
	bool fib_match;
	size_t offset;
	void (*answer)(void *context, size_t index, const struct gw_route *route);
	void *context;
};

static void lookup_answer(struct lookup *lookup, const struct nlmsghdr *message)
{
	uint32_t index = message->nlmsg_seq - lookup->first;
	struct gw_route route = {.path_count = 0};

	if (index >= lookup->count)
		return; /* an answer that an earlier, given up, question got late */
	lookup->answered++;
	if (message->nlmsg_type == RTM_NEWROUTE && route_parse(message, &route) &&
		lookup->fib_match) {
		lookup->again[index] = true;
		lookup->again_count++;
		return;
	}
	lookup->answer(lookup->context, lookup->offset + index, &route);
}

/* Asks for the addresses of the batch, or for those that are to be asked again. */
static int lookup_run(struct gw_rtnetlink *netlink, struct lookup *lookup)
{
	char buffer[16384];
	size_t used = 0, expected = 0;
	ssize_t length;

	lookup->first = netlink->sequence;
	lookup->answered = 0;
	netlink->sequence += (uint32_t)lookup->count;
	for (size_t i = 0; i < lookup->count; i++) {
		struct nlmsghdr *message;

		if (!lookup->fib_match && !lookup->again[i])
			continue;
		message = mnl_nlmsg_put_header(buffer + used);
		route_request_put(message, lookup->first + (uint32_t)i, &lookup->addresses[i],
			lookup->fib_match);
		used += MNL_ALIGN(message->nlmsg_len);
		expected++;
	}
	if (!expected)
		return 0;
	if (mnl_socket_sendto(netlink->requests, buffer, used) < 0)
		return -errno;
	while (lookup->answered < expected) {
		const struct nlmsghdr *message = (const struct nlmsghdr *)buffer;
		int left;

		length = gw_rtnetlink_receive(netlink, buffer, sizeof(buffer));
		if (length < 0)
			return (int)length;
		left = (int)length;
		for (; mnl_nlmsg_ok(message, left); message = mnl_nlmsg_next(message, &left))
			lookup_answer(lookup, message);
	}
	return 0;
}

int gw_rtnetlink_lookup(struct gw_rtnetlink *netlink, const struct gw_address *addresses,
	size_t count, void (*answer)(void *context, size_t index, const struct gw_route *route),
	void *context)
{
	for (size_t done = 0; done < count;) {
		struct lookup lookup = {
			.addresses = addresses + done,
			.count = count - done < LOOKUP_BATCH ? count - done : LOOKUP_BATCH,
			.fib_match = true,
			.offset = done,
			.answer = answer,
			.context = context,
		};
		int error = lookup_run(netlink, &lookup);

		/* A route by next-hop object, with net.ipv4.nexthop_compat_mode=0: let the kernel
		 * choose the path. */
		if (!error && lookup.again_count) {
			lookup.fib_match = false;
			error = lookup_run(netlink, &lookup);
		}
		if (error)
			return error;
		done += lookup.count;
	}
	return 0;
}

static size_t neighbour_request_put(char *buffer, uint32_t sequence,
	const struct gw_neighbour_request *request, uint16_t state, uint8_t flags,
	uint16_t message_flags)
{
	struct nlmsghdr *message = mnl_nlmsg_put_header(buffer);
	struct ndmsg *info;

	message->nlmsg_type = RTM_NEWNEIGH;
	message->nlmsg_flags = NLM_F_REQUEST | message_flags;
	message->nlmsg_seq = sequence;
	info = mnl_nlmsg_put_extra_header(message, sizeof(*info));
	info->ndm_family = address_family(&request->address);
	info->ndm_ifindex = (int)request->ifindex;
	info->ndm_state = state;
	info->ndm_flags = flags;
	address_put(message, NDA_DST, &request->address);
	return MNL_ALIGN(message->nlmsg_len);
}

/* Throws away the refusals that the last batch left in the socket. */
static void refusals_drain(struct gw_rtnetlink *netlink)
{
	char buffer[16384];

	while (recv(mnl_socket_get_fd(netlink->requests), buffer, sizeof(buffer), MSG_DONTWAIT) > 0)
		;
}

int gw_rtnetlink_neighbours(
	struct gw_rtnetlink *netlink, const struct gw_neighbour_request *requests, size_t count)
{
	char buffer[REQUEST_BATCH * 128];
	int error = 0;

	for (size_t done = 0; done < count && !error;) {
		size_t used = 0;

		for (size_t i = 0; i < REQUEST_BATCH && done < count; i++, done++) {
			const struct gw_neighbour_request *request = &requests[done];
			uint32_t sequence = netlink->sequence++;

			if (request->action == GW_NEIGHBOUR_PROBE)
				used += neighbour_request_put(buffer + used, sequence, request,
					NUD_PROBE, 0, NLM_F_REPLACE);
			if (request->action == GW_NEIGHBOUR_RESTART)
				used += neighbour_request_put(buffer + used, sequence, request,
					NUD_NONE, 0, NLM_F_REPLACE);
			if (request->action != GW_NEIGHBOUR_PROBE)
				used += neighbour_request_put(buffer + used, sequence, request,
					NUD_NONE, NTF_USE, NLM_F_CREATE | NLM_F_REPLACE);
		}
		if (mnl_socket_sendto(netlink->requests, buffer, used) < 0)
			error = -errno;
		refusals_drain(netlink);
	}
	return error;
}
