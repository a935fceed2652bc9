/* SPDX-License-Identifier: BSD-2-Clause */
/* A connection is accepted. */
#include "check_socket.h"

#include <sys/socket.h>

static void connect_ended(struct check_socket *probe, int error, int events)
{
	if (error)
		check_socket_answer(probe, false, "%s", uv_strerror(error));
	else
		check_socket_answer(probe, true, "connected");
}

static int tcp_start(struct gw_checker *checker, const struct gw_check_target *target,
	gw_check_done *done, void *owner, struct gw_probe **out)
{
	const struct check_socket kind = {
		.probe.ops = &gw_check_tcp, .ready = connect_ended, .done = done, .owner = owner};
	struct check_socket *probe;
	int ret = check_socket_start(
		checker, target, SOCK_STREAM, UV_WRITABLE, sizeof(*probe), &kind, &probe);

	if (!ret)
		*out = &probe->probe;
	return ret;
}

const struct gw_check_ops gw_check_tcp = {
	.start = tcp_start,
	.cancel = check_socket_cancel,
};
