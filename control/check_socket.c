/* SPDX-License-Identifier: BSD-2-Clause */
#include "check_socket.h"

#include "abi/types.h"
#include "base/address.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define DATAGRAM_MAX 65536

#ifndef IP_BIND_ADDRESS_NO_PORT
#	define IP_BIND_ADDRESS_NO_PORT 24
#endif

socklen_t gw_check_sockaddr(
	const uint8_t address[static 16], uint16_t port, struct sockaddr_storage *storage)
{
	struct sockaddr_in *in = (struct sockaddr_in *)storage;
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)storage;

	memset(storage, 0, sizeof(*storage));
	if (gw_address_is_ipv4((const struct gw_address *)address)) {
		in->sin_family = AF_INET;
		in->sin_port = htons(port);
		memcpy(&in->sin_addr, address + 12, 4);
		return sizeof(*in);
	}
	in6->sin6_family = AF_INET6;
	in6->sin6_port = htons(port);
	memcpy(&in6->sin6_addr, address, 16);
	return sizeof(*in6);
}

static int socket_prepare(int fd, const struct gw_check_target *target, int type)
{
	const struct linger linger = {.l_onoff = 1, .l_linger = 0};
	struct sockaddr_storage source;
	const int one = 1;

	if (type == SOCK_STREAM && setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger)))
		return -errno;
	if (target->mark && setsockopt(fd, SOL_SOCKET, SO_MARK, &target->mark, sizeof(uint32_t)))
		return -errno;
	if (!target->source)
		return 0;
	/* The port is chosen by connect, per destination: many probes may then share one. */
	setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &one, sizeof(one));
	if (bind(fd, (struct sockaddr *)&source, gw_check_sockaddr(target->source, 0, &source)))
		return -errno;
	return 0;
}

int gw_check_socket_open(const struct gw_check_target *target, int type)
{
	bool ipv4 = gw_address_is_ipv4((const struct gw_address *)target->address);
	int fd = socket(ipv4 ? AF_INET : AF_INET6, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	int ret;

	if (fd < 0)
		return -errno;
	ret = socket_prepare(fd, target, type);
	if (ret) {
		close(fd);
		return ret;
	}
	return fd;
}

static void handle_closed(uv_handle_t *handle)
{
	struct check_socket *probe = handle->data;

	if (--probe->open_handles == 0)
		free(probe);
}

static void probe_close(struct check_socket *probe)
{
	probe->done = NULL;
	uv_close((uv_handle_t *)&probe->deadline.timer, handle_closed);
	uv_close((uv_handle_t *)&probe->poll, handle_closed);
	close(probe->fd); /* libuv does not look at it any more */
}

void check_socket_answer(struct check_socket *probe, bool success, const char *format, ...)
{
	struct gw_check_outcome outcome = {.success = success};
	gw_check_done *done = probe->done;
	void *owner = probe->owner;
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(outcome.text, sizeof(outcome.text), format, arguments);
	va_end(arguments);
	probe_close(probe);
	done(owner, &outcome);
}

ssize_t check_socket_receive(struct check_socket *probe, int error, const uint8_t **data)
{
	static uint8_t datagram[DATAGRAM_MAX]; /* the loop's thread only */
	ssize_t length = error ? -1 : recv(probe->fd, datagram, sizeof(datagram), MSG_DONTWAIT);

	*data = datagram;
	if (length >= 0 || (!error && (errno == EAGAIN || errno == EINTR)))
		return length;
	check_socket_answer(
		probe, false, "%s", uv_strerror(error ? error : uv_translate_sys_error(errno)));
	return -1;
}

static void time_is_up(struct check_deadline *deadline)
{
	check_socket_answer(
		deadline->timer.data, false, "no answer in %u ms", deadline->timeout_ms);
}

static void poll_reported(uv_poll_t *poll, int status, int events)
{
	struct check_socket *probe = poll->data;
	int error = 0;
	socklen_t length = sizeof(error);

	/* libuv says EBADF for any error; the socket knows which. */
	if (getsockopt(probe->fd, SOL_SOCKET, SO_ERROR, &error, &length))
		error = errno;
	if (!error && status < 0)
		error = -status;
	probe->ready(probe, -error, events);
}

static int probe_watch(
	struct gw_checker *checker, struct check_socket *probe, uint32_t timeout_ms, int events)
{
	uv_loop_t *loop = gw_checker_loop(checker);
	int ret = uv_poll_init(loop, &probe->poll, probe->fd);

	if (ret)
		return ret;
	check_deadline_start(loop, &probe->deadline, timeout_ms, time_is_up);
	probe->poll.data = probe->deadline.timer.data = probe;
	probe->open_handles = 2;
	ret = uv_poll_start(&probe->poll, events, poll_reported);
	if (ret)
		probe_close(probe);
	return ret;
}

int check_socket_start(struct gw_checker *checker, const struct gw_check_target *target, int type,
	int events, size_t size, const struct check_socket *kind, struct check_socket **out)
{
	struct check_socket *probe = calloc(1, size);
	struct sockaddr_storage to;
	socklen_t length = gw_check_sockaddr(target->address, target->check->port, &to);
	int ret;

	if (!probe)
		return -ENOMEM;
	*probe = *kind;
	probe->fd = gw_check_socket_open(target, type);
	ret = probe->fd < 0 ? probe->fd : 0;
	if (!ret && connect(probe->fd, (struct sockaddr *)&to, length) && errno != EINPROGRESS)
		ret = -errno;
	if (!ret)
		ret = probe_watch(checker, probe, target->check->timeout_ms, events);
	if (!ret) {
		*out = probe;
		return 0;
	}
	if (!probe->open_handles) { /* otherwise closing handles free it */
		if (probe->fd >= 0)
			close(probe->fd);
		free(probe);
	}
	return ret;
}

void check_socket_cancel(struct gw_probe *base)
{
	probe_close((struct check_socket *)base);
}
