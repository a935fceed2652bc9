/* SPDX-License-Identifier: BSD-2-Clause */
/* Requests of NETLINK_ROUTE, one at a time, each with its acknowledgement. */
#include "check_tunnel_net.h"

#include "base/log.h"
#include "base/netlink_request.h"
#include "control/check_tunnel.h"

#include <libmnl/libmnl.h>

#include <errno.h>
#include <linux/fib_rules.h>
#include <linux/ip.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define REQUEST_MAX   1024
#define RULE_PRIORITY 7600 /* before the main table's 32766 */
/* IPv6's least: room for every outer header in an Ethernet frame, and enough for a probe. */
#define DEVICE_MTU 1280

static const uint8_t families[] = {AF_INET, AF_INET6};

static struct nlmsghdr *link_request(char *buffer, uint16_t type, uint16_t flags, bool up)
{
	struct nlmsghdr *request = mnl_nlmsg_put_header(buffer);
	struct ifinfomsg *info;

	request->nlmsg_type = type;
	request->nlmsg_flags = flags;
	info = mnl_nlmsg_put_extra_header(request, sizeof(*info));
	info->ifi_family = AF_UNSPEC;
	info->ifi_flags = info->ifi_change = up ? IFF_UP | IFF_NOARP : 0;
	mnl_attr_put_strz(request, IFLA_IFNAME, GW_CHECK_TUNNEL_DEVICE);
	return request;
}

static int device_remove(void)
{
	char buffer[REQUEST_MAX];

	return gw_netlink_request(link_request(buffer, RTM_DELLINK, 0, false));
}

/* Lets IPv4 forward what comes in by it, which nothing does: bpf_fib_lookup asks for that. */
static int device_forward(const struct tunnel_net *net)
{
	char buffer[REQUEST_MAX];
	struct nlmsghdr *request = link_request(buffer, RTM_NEWLINK, 0, true);
	struct nlattr *families_nest, *inet, *conf;

	((struct ifinfomsg *)mnl_nlmsg_get_payload(request))->ifi_index = (int)net->ifindex;
	families_nest = mnl_attr_nest_start(request, IFLA_AF_SPEC);
	inet = mnl_attr_nest_start(request, AF_INET);
	conf = mnl_attr_nest_start(request, IFLA_INET_CONF);
	mnl_attr_put_u32(request, IPV4_DEVCONF_FORWARDING, 1);
	mnl_attr_nest_end(request, conf);
	mnl_attr_nest_end(request, inet);
	mnl_attr_nest_end(request, families_nest);
	return gw_netlink_request(request);
}

/* Any kind will do that frames leave by. */
static int device_make(struct tunnel_net *net)
{
	static const char *const kinds[] = {"dummy", "ifb"};
	char buffer[REQUEST_MAX];
	int ret = -EOPNOTSUPP;

	device_remove();
	for (size_t i = 0; ret == -EOPNOTSUPP && i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct nlmsghdr *request =
			link_request(buffer, RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, true);
		struct nlattr *kind;

		mnl_attr_put_u32(request, IFLA_MTU, DEVICE_MTU);
		kind = mnl_attr_nest_start(request, IFLA_LINKINFO);
		mnl_attr_put_strz(request, IFLA_INFO_KIND, kinds[i]);
		mnl_attr_nest_end(request, kind);
		ret = gw_netlink_request(request);
	}
	if (ret)
		return ret;
	net->ifindex = if_nametoindex(GW_CHECK_TUNNEL_DEVICE);
	return net->ifindex ? device_forward(net) : -errno;
}

static int rule_change(const struct tunnel_net *net, uint8_t family, uint16_t type, uint16_t flags)
{
	char buffer[REQUEST_MAX];
	struct nlmsghdr *request = mnl_nlmsg_put_header(buffer);
	struct fib_rule_hdr *rule;

	request->nlmsg_type = type;
	request->nlmsg_flags = flags;
	rule = mnl_nlmsg_put_extra_header(request, sizeof(*rule));
	rule->family = family;
	rule->action = FR_ACT_TO_TBL;
	mnl_attr_put_u32(request, FRA_PRIORITY, RULE_PRIORITY);
	mnl_attr_put_u32(request, FRA_FWMARK, net->mark);
	mnl_attr_put_u32(request, FRA_FWMASK, net->mask);
	mnl_attr_put_u32(request, FRA_TABLE, net->table);
	return gw_netlink_request(request);
}

/* Everything goes to the device; the kernel removes the route with it. */
static int route_make(const struct tunnel_net *net, uint8_t family)
{
	char buffer[REQUEST_MAX];
	struct nlmsghdr *request = mnl_nlmsg_put_header(buffer);
	struct rtmsg *route;

	request->nlmsg_type = RTM_NEWROUTE;
	request->nlmsg_flags = NLM_F_CREATE | NLM_F_REPLACE;
	route = mnl_nlmsg_put_extra_header(request, sizeof(*route));
	route->rtm_family = family;
	route->rtm_protocol = RTPROT_STATIC;
	route->rtm_scope = family == AF_INET ? RT_SCOPE_LINK : RT_SCOPE_UNIVERSE;
	route->rtm_type = RTN_UNICAST;
	mnl_attr_put_u32(request, RTA_TABLE, net->table);
	mnl_attr_put_u32(request, RTA_OIF, net->ifindex);
	return gw_netlink_request(request);
}

static int step_failed(const char *what, int error)
{
	gw_log_error("healthcheck.via tunnel: cannot make %s: %s", what, strerror(-error));
	return error;
}

static int family_make(const struct tunnel_net *net, uint8_t family)
{
	int ret = route_make(net, family);

	if (ret)
		return step_failed("the route to device " GW_CHECK_TUNNEL_DEVICE, ret);
	ret = rule_change(net, family, RTM_NEWRULE, NLM_F_CREATE | NLM_F_EXCL);
	if (ret && ret != -EEXIST)
		return step_failed("the rule for marked packets", ret);
	return 0;
}

/* A kernel without IPv6 has no probes over it either. */
static bool family_absent(uint8_t family)
{
	int fd = socket(family, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return true;
	close(fd);
	return false;
}

int tunnel_net_make(struct tunnel_net *net)
{
	int ret = device_make(net);

	if (ret)
		return step_failed("device " GW_CHECK_TUNNEL_DEVICE, ret);
	for (size_t i = 0; !ret && i < sizeof(families); i++)
		ret = family_absent(families[i]) ? 0 : family_make(net, families[i]);
	if (ret)
		tunnel_net_remove(net);
	return ret;
}

void tunnel_net_remove(struct tunnel_net *net)
{
	for (size_t i = 0; i < sizeof(families); i++)
		rule_change(net, families[i], RTM_DELRULE, 0);
	device_remove();
	net->ifindex = 0;
}
