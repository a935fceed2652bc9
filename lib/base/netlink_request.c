/* SPDX-License-Identifier: BSD-2-Clause */
#include "netlink_request.h"

#include <libmnl/libmnl.h>

#include <errno.h>
#include <linux/netlink.h>
#include <sys/socket.h>

int gw_netlink_request(struct nlmsghdr *request)
{
	struct mnl_socket *socket = mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC);
	char answer[8192];
	ssize_t length;
	int ret = 0;

	if (!socket)
		return -errno;
	request->nlmsg_flags |= NLM_F_REQUEST | NLM_F_ACK;
	request->nlmsg_seq = 1;
	if (mnl_socket_bind(socket, 0, MNL_SOCKET_AUTOPID) < 0 ||
		mnl_socket_sendto(socket, request, request->nlmsg_len) < 0)
		ret = -errno;
	if (!ret) {
		length = mnl_socket_recvfrom(socket, answer, sizeof(answer));
		if (length < 0 || mnl_cb_run(answer, (size_t)length, 1,
					  mnl_socket_get_portid(socket), NULL, NULL) < 0)
			ret = -errno;
	}
	mnl_socket_close(socket);
	return ret;
}
