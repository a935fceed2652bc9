/* SPDX-License-Identifier: BSD-2-Clause */
#include "control/port_counters.h"

#include <libmnl/libmnl.h>

#include <errno.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <string.h>

static int link_read(const struct nlmsghdr *message, void *owner)
{
	struct gw_port_stats *counters = owner;
	const struct nlattr *attribute;
	struct rtnl_link_stats64 now;

	mnl_attr_for_each(attribute, message, sizeof(struct ifinfomsg))
	{
		if (mnl_attr_get_type(attribute) == IFLA_IFNAME)
			snprintf(counters->name, sizeof(counters->name), "%s",
				mnl_attr_get_str(attribute));
		if (mnl_attr_get_type(attribute) != IFLA_STATS64 ||
			mnl_attr_get_payload_len(attribute) <
				offsetof(struct rtnl_link_stats64, rx_nohandler))
			continue;
		memcpy(&now, mnl_attr_get_payload(attribute),
			offsetof(struct rtnl_link_stats64, rx_nohandler));
		counters->rx_missed = now.rx_missed_errors;
		counters->rx_dropped = now.rx_dropped;
		counters->rx_errors = now.rx_errors;
		counters->tx_errors = now.tx_errors + now.tx_dropped;
	}
	return MNL_CB_OK;
}

static int ask(struct mnl_socket *socket, uint32_t ifindex, struct gw_port_stats *counters)
{
	char buffer[16384] __attribute__((aligned(8)));
	struct nlmsghdr *message = mnl_nlmsg_put_header(buffer);
	struct ifinfomsg *body;
	ssize_t got;

	message->nlmsg_type = RTM_GETLINK;
	message->nlmsg_flags = NLM_F_REQUEST;
	body = mnl_nlmsg_put_extra_header(message, sizeof(*body));
	body->ifi_index = (int)ifindex;
	if (mnl_socket_sendto(socket, message, message->nlmsg_len) < 0)
		return -errno;
	got = mnl_socket_recvfrom(socket, buffer, sizeof(buffer));
	if (got < 0)
		return -errno;
	return mnl_cb_run(buffer, (size_t)got, 0, 0, link_read, counters) < 0 ? -errno : 0;
}

int gw_port_counters_read(uint32_t ifindex, struct gw_port_stats *counters)
{
	struct mnl_socket *socket = mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC);
	struct gw_port_stats made = {0};
	int ret;

	if (!socket)
		return -errno;
	ret = mnl_socket_bind(socket, 0, MNL_SOCKET_AUTOPID) < 0 ? -errno
								 : ask(socket, ifindex, &made);
	mnl_socket_close(socket);
	if (!ret)
		*counters = made;
	return ret;
}
