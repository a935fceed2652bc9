/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A datagram is answered: by any datagram, or by one that contains `receive`. The socket is
 * connected and has a port of its own, so nobody else and no late answer is heard; a port that
 * is closed says so by ICMP, which ends the probe at once.
 */
#include "check_socket.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

struct probe_udp {
	struct check_socket base;
	const struct gw_config_check *check;
};

static void datagram_ready(struct check_socket *base, int error, int events)
{
	const struct gw_config_check *check = ((struct probe_udp *)base)->check;
	const uint8_t *answer;
	ssize_t length = check_socket_receive(base, error, &answer);

	if (length < 0)
		return;
	if (check->receive.length &&
		!memmem(answer, (size_t)length, check->receive.data, check->receive.length)) {
		check_socket_answer(
			base, false, "the answer of %zd bytes lacks what is expected", length);
		return;
	}
	check_socket_answer(base, true, "answered by %zd bytes", length);
}

static int udp_start(struct gw_checker *checker, const struct gw_check_target *target,
	gw_check_done *done, void *owner, struct gw_probe **out)
{
	const struct check_socket kind = {
		.probe.ops = &gw_check_udp, .ready = datagram_ready, .done = done, .owner = owner};
	const struct gw_config_bytes *send_bytes = &target->check->send;
	struct check_socket *probe;
	int ret = check_socket_start(
		checker, target, SOCK_DGRAM, UV_READABLE, sizeof(struct probe_udp), &kind, &probe);

	if (ret)
		return ret;
	((struct probe_udp *)probe)->check = target->check;
	if (send(probe->fd, send_bytes->data ? send_bytes->data : (const uint8_t *)"",
		    send_bytes->length, MSG_NOSIGNAL) < 0) {
		ret = -errno;
		check_socket_cancel(&probe->probe);
		return ret;
	}
	*out = &probe->probe;
	return 0;
}

const struct gw_check_ops gw_check_udp = {
	.start = udp_start,
	.cancel = check_socket_cancel,
};
