/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/rtnetlink_internal.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_link.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <net/if_arp.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>

#define REPORTS_BUFFER (4 << 20)
/* The kernel answers while it takes the question; this only guards against waiting for ever. */
#define ANSWER_TIMEOUT_S 2

static const int groups[] = {RTNLGRP_LINK, RTNLGRP_NEIGH, RTNLGRP_IPV4_ROUTE, RTNLGRP_IPV6_ROUTE,
	RTNLGRP_IPV4_RULE, RTNLGRP_IPV6_RULE, RTNLGRP_NEXTHOP};

int gw_rtnetlink_open(struct gw_rtnetlink *netlink)
{
	struct gw_rtnetlink opened = {.sequence = 1};
	struct timeval timeout = {.tv_sec = ANSWER_TIMEOUT_S};
	int size = REPORTS_BUFFER;

	opened.requests = mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC);
	opened.reports = mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (!opened.requests || !opened.reports)
		goto fail;
	if (mnl_socket_bind(opened.requests, 0, MNL_SOCKET_AUTOPID) < 0 ||
		mnl_socket_bind(opened.reports, 0, MNL_SOCKET_AUTOPID) < 0)
		goto fail;
	if (setsockopt(mnl_socket_get_fd(opened.requests), SOL_SOCKET, SO_RCVTIMEO, &timeout,
		    sizeof(timeout)) < 0)
		goto fail;
	/* A small buffer only means more re-reading after losses. */
	(void)setsockopt(
		mnl_socket_get_fd(opened.reports), SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size));
	for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++) {
		int group = groups[i];

		if (mnl_socket_setsockopt(
			    opened.reports, NETLINK_ADD_MEMBERSHIP, &group, sizeof(group)) < 0)
			goto fail;
	}
	*netlink = opened;
	return 0;
fail:;
	int error = -errno;
	gw_rtnetlink_close(&opened);
	return error;
}

void gw_rtnetlink_close(struct gw_rtnetlink *netlink)
{
	if (netlink->requests)
		mnl_socket_close(netlink->requests);
	if (netlink->reports)
		mnl_socket_close(netlink->reports);
	netlink->requests = netlink->reports = NULL;
}

bool gw_rtnetlink_address(
	const struct nlattr *attribute, uint8_t family, struct gw_address *address)
{
	uint16_t length = mnl_attr_get_payload_len(attribute);

	if (family == AF_INET && length == 4) {
		gw_address_set_ipv4(address, mnl_attr_get_payload(attribute));
		return true;
	}
	if (family == AF_INET6 && length == 16) {
		memcpy(address->bytes, mnl_attr_get_payload(attribute), 16);
		return true;
	}
	return false;
}

/* A VLAN device's id; 0 for any other kind. Only 802.1Q: frames can leave with one such tag. */
static uint16_t link_vlan_parse(const struct nlattr *info)
{
	const struct nlattr *attribute, *data = NULL, *field;
	bool vlan = false, tagged_8021q = true;
	uint16_t id = 0;

	mnl_attr_for_each_nested(attribute, info)
	{
		if (mnl_attr_get_type(attribute) == IFLA_INFO_KIND)
			vlan = mnl_attr_get_payload_len(attribute) >= 4 &&
			       !strncmp(mnl_attr_get_str(attribute), "vlan", 4);
		else if (mnl_attr_get_type(attribute) == IFLA_INFO_DATA)
			data = attribute;
	}
	if (!vlan || !data)
		return 0;
	mnl_attr_for_each_nested(field, data)
	{
		if (mnl_attr_get_payload_len(field) != sizeof(uint16_t))
			continue;
		if (mnl_attr_get_type(field) == IFLA_VLAN_ID)
			id = mnl_attr_get_u16(field);
		else if (mnl_attr_get_type(field) == IFLA_VLAN_PROTOCOL)
			tagged_8021q = mnl_attr_get_u16(field) == htons(ETH_P_8021Q);
	}
	return tagged_8021q ? id : 0;
}

static void link_parse(const struct nlmsghdr *message, const struct gw_rtnetlink_sink *sink)
{
	const struct ifinfomsg *info = mnl_nlmsg_get_payload(message);
	struct gw_link_report report = {
		.ifindex = (uint32_t)info->ifi_index,
		.gone = message->nlmsg_type == RTM_DELLINK,
		.up = (info->ifi_flags & IFF_UP) && (info->ifi_flags & IFF_RUNNING),
		.ethernet = info->ifi_type == ARPHRD_ETHER,
	};
	const struct nlattr *attribute;

	/* A bridge reports its ports as links of its own family; those say nothing of the link
	 * itself. */
	if (!sink->link || info->ifi_family != AF_UNSPEC)
		return;
	mnl_attr_for_each(attribute, message, sizeof(*info))
	{
		switch (mnl_attr_get_type(attribute)) {
		case IFLA_IFNAME:
			if (mnl_attr_validate(attribute, MNL_TYPE_NUL_STRING) == 0)
				strncpy(report.name, mnl_attr_get_str(attribute), IF_NAMESIZE - 1);
			break;
		case IFLA_ADDRESS:
			if (mnl_attr_get_payload_len(attribute) == 6)
				memcpy(report.mac, mnl_attr_get_payload(attribute), 6);
			break;
		case IFLA_LINK:
			if (gw_rtnetlink_is_u32(attribute))
				report.parent = mnl_attr_get_u32(attribute);
			break;
		case IFLA_LINKINFO:
			report.vlan = link_vlan_parse(attribute);
			break;
		case IFLA_MTU:
			if (gw_rtnetlink_is_u32(attribute))
				report.mtu = mnl_attr_get_u32(attribute);
			break;
		}
	}
	sink->link(sink->context, &report);
}

static void neighbour_parse(const struct nlmsghdr *message, const struct gw_rtnetlink_sink *sink)
{
	const struct ndmsg *info = mnl_nlmsg_get_payload(message);
	struct gw_neighbour_report report = {
		.ifindex = (uint32_t)info->ndm_ifindex,
		.state = message->nlmsg_type == RTM_DELNEIGH ? 0 : info->ndm_state,
	};
	const struct nlattr *attribute;
	bool found = false;

	if (!sink->neighbour || (info->ndm_flags & NTF_PROXY))
		return;
	mnl_attr_for_each(attribute, message, sizeof(*info))
	{
		switch (mnl_attr_get_type(attribute)) {
		case NDA_DST:
			found = gw_rtnetlink_address(attribute, info->ndm_family, &report.address);
			break;
		case NDA_LLADDR:
			if (mnl_attr_get_payload_len(attribute) == 6) {
				memcpy(report.mac, mnl_attr_get_payload(attribute), 6);
				report.has_mac = true;
			}
			break;
		}
	}
	if (found)
		sink->neighbour(sink->context, &report);
}

/* Rules and next-hop objects may move any address. */
static void any_route_report(const struct gw_rtnetlink_sink *sink)
{
	struct gw_route_report report = {.length = 0};

	if (sink->route)
		sink->route(sink->context, &report);
}

static void route_report_parse(const struct nlmsghdr *message, const struct gw_rtnetlink_sink *sink)
{
	const struct rtmsg *info = mnl_nlmsg_get_payload(message);
	struct gw_route_report report = {.length = info->rtm_dst_len};
	const struct nlattr *attribute;

	if (!sink->route || (info->rtm_flags & RTM_F_CLONED))
		return;
	if (info->rtm_family == AF_INET) {
		static const uint8_t any[4];

		gw_address_set_ipv4(&report.prefix, any);
		report.length += 96;
	} else if (info->rtm_family != AF_INET6) {
		return;
	}
	mnl_attr_for_each(attribute, message, sizeof(*info))
	{
		if (mnl_attr_get_type(attribute) == RTA_DST &&
			!gw_rtnetlink_address(attribute, info->rtm_family, &report.prefix))
			return;
	}
	sink->route(sink->context, &report);
}

static size_t message_payload_min(uint16_t type)
{
	switch (type) {
	case RTM_NEWLINK:
	case RTM_DELLINK:
		return sizeof(struct ifinfomsg);
	case RTM_NEWNEIGH:
	case RTM_DELNEIGH:
		return sizeof(struct ndmsg);
	case RTM_NEWROUTE:
	case RTM_DELROUTE:
		return sizeof(struct rtmsg);
	default:
		return 0;
	}
}

static void message_parse(const struct nlmsghdr *message, const struct gw_rtnetlink_sink *sink)
{
	if (mnl_nlmsg_get_payload_len(message) < message_payload_min(message->nlmsg_type))
		return;
	switch (message->nlmsg_type) {
	case RTM_NEWLINK:
	case RTM_DELLINK:
		link_parse(message, sink);
		break;
	case RTM_NEWNEIGH:
	case RTM_DELNEIGH:
		neighbour_parse(message, sink);
		break;
	case RTM_NEWROUTE:
	case RTM_DELROUTE:
		route_report_parse(message, sink);
		break;
	case RTM_NEWRULE:
	case RTM_DELRULE:
	case RTM_NEWNEXTHOP:
	case RTM_DELNEXTHOP:
		any_route_report(sink);
		break;
	}
}

ssize_t gw_rtnetlink_receive(struct gw_rtnetlink *netlink, char *buffer, size_t size)
{
	ssize_t length;

	do
		length = mnl_socket_recvfrom(netlink->requests, buffer, size);
	while (length < 0 && errno == EINTR);
	return length < 0 ? -errno : length;
}

/* Parses one part of a dump. Returns 1 at its end, 0 when there is more, or -errno. */
static int dump_part_parse(
	const char *buffer, ssize_t length, uint32_t sequence, const struct gw_rtnetlink_sink *sink)
{
	const struct nlmsghdr *message = (const struct nlmsghdr *)buffer;
	int left = (int)length;

	for (; mnl_nlmsg_ok(message, left); message = mnl_nlmsg_next(message, &left)) {
		const struct nlmsgerr *error = mnl_nlmsg_get_payload(message);

		if (message->nlmsg_seq != sequence)
			continue;
		if (message->nlmsg_type == NLMSG_DONE)
			return 1;
		if (message->nlmsg_type == NLMSG_ERROR)
			return error->error;
		/* A part marked NLM_F_DUMP_INTR is used all the same: the change itself is
		 * reported. */
		message_parse(message, sink);
	}
	return 0;
}

int gw_rtnetlink_dump(
	struct gw_rtnetlink *netlink, uint16_t type, const struct gw_rtnetlink_sink *sink)
{
	char buffer[32768];
	struct nlmsghdr *message = mnl_nlmsg_put_header(buffer);
	uint32_t sequence = netlink->sequence++;
	ssize_t length;
	int status = 0;

	message->nlmsg_type = type;
	message->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
	message->nlmsg_seq = sequence;
	mnl_nlmsg_put_extra_header(
		message, type == RTM_GETLINK ? sizeof(struct ifinfomsg) : sizeof(struct ndmsg));
	if (mnl_socket_sendto(netlink->requests, message, message->nlmsg_len) < 0)
		return -errno;
	while (!status) {
		length = gw_rtnetlink_receive(netlink, buffer, sizeof(buffer));
		if (length < 0)
			return (int)length;
		status = dump_part_parse(buffer, length, sequence, sink);
	}
	return status < 0 ? status : 0;
}

int gw_rtnetlink_read(struct gw_rtnetlink *netlink, const struct gw_rtnetlink_sink *sink)
{
	char buffer[32768];
	int result = 0;

	for (;;) {
		const struct nlmsghdr *message = (const struct nlmsghdr *)buffer;
		ssize_t length = mnl_socket_recvfrom(netlink->reports, buffer, sizeof(buffer));
		int left = (int)length;

		if (length < 0 && errno == ENOBUFS) {
			result = -ENOBUFS;
			continue;
		}
		if (length < 0)
			return errno == EAGAIN || errno == EINTR ? result : -errno;
		for (; mnl_nlmsg_ok(message, left); message = mnl_nlmsg_next(message, &left))
			message_parse(message, sink);
	}
}
