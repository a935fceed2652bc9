/* SPDX-License-Identifier: BSD-2-Clause */
#include "abi/types.h"
#include "base/address.h"
#include "control/check.h"

#include <uv.h>

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Lives until both handles are closed. */
struct probe_tcp {
	struct gw_probe probe;
	uv_tcp_t socket;
	uv_timer_t timer;
	uv_connect_t connect;
	gw_check_done *done; /* NULL once answered or cancelled */
	void *owner;
	uint32_t timeout_ms;
	int open_handles;
};

static void handle_closed(uv_handle_t *handle)
{
	struct probe_tcp *probe = handle->data;

	if (--probe->open_handles == 0)
		free(probe);
}

static void probe_close(struct probe_tcp *probe, bool reset)
{
	probe->done = NULL;
	uv_close((uv_handle_t *)&probe->timer, handle_closed);
	if (!reset || uv_tcp_close_reset(&probe->socket, handle_closed))
		uv_close((uv_handle_t *)&probe->socket, handle_closed);
}

static void probe_answer(struct probe_tcp *probe, bool success, const char *text)
{
	struct gw_check_outcome outcome = {.success = success};
	gw_check_done *done = probe->done;
	void *owner = probe->owner;

	snprintf(outcome.text, sizeof(outcome.text), "%s", text);
	probe_close(probe, success);
	done(owner, &outcome);
}

static void timer_ran_out(uv_timer_t *timer)
{
	struct probe_tcp *probe = timer->data;
	char text[GW_CHECK_TEXT];

	snprintf(text, sizeof(text), "no answer in %u ms", probe->timeout_ms);
	probe_answer(probe, false, text);
}

static void connect_ended(uv_connect_t *connect, int status)
{
	struct probe_tcp *probe = connect->data;

	if (!probe->done)
		return; /* closing: the request is only being handed back */
	if (status == 0)
		probe_answer(probe, true, "connected");
	else
		probe_answer(probe, false, uv_strerror(status));
}

static int probe_connect(
	struct probe_tcp *probe, const struct gw_check_target *target, struct gw_checker *checker)
{
	struct sockaddr_storage storage = {0};

	if (gw_address_is_ipv4((const struct gw_address *)target->address)) {
		struct sockaddr_in *in = (struct sockaddr_in *)&storage;

		in->sin_family = AF_INET;
		in->sin_port = htons(target->check->port);
		memcpy(&in->sin_addr, target->address + 12, 4);
	} else {
		struct sockaddr_in6 *in = (struct sockaddr_in6 *)&storage;

		in->sin6_family = AF_INET6;
		in->sin6_port = htons(target->check->port);
		memcpy(&in->sin6_addr, target->address, 16);
	}
	probe->connect.data = probe;
	return uv_tcp_connect(
		&probe->connect, &probe->socket, (const struct sockaddr *)&storage, connect_ended);
}

static int tcp_start(struct gw_checker *checker, const struct gw_check_target *target,
	gw_check_done *done, void *owner, struct gw_probe **out)
{
	struct probe_tcp *probe = calloc(1, sizeof(*probe));
	uv_loop_t *loop = gw_checker_loop(checker);
	int ret;

	if (!probe)
		return -ENOMEM;
	probe->probe.ops = &gw_check_tcp;
	probe->owner = owner;
	probe->timeout_ms = target->check->timeout_ms;
	ret = uv_tcp_init(loop, &probe->socket);
	if (ret) {
		free(probe);
		return ret;
	}
	uv_timer_init(loop, &probe->timer); /* cannot fail */
	probe->socket.data = probe;
	probe->timer.data = probe;
	probe->open_handles = 2;
	ret = probe_connect(probe, target, checker);
	if (ret) {
		probe_close(probe, false);
		return ret;
	}
	probe->done = done;
	uv_timer_start(&probe->timer, timer_ran_out, probe->timeout_ms, 0);
	*out = &probe->probe;
	return 0;
}

static void tcp_cancel(struct gw_probe *base)
{
	probe_close((struct probe_tcp *)base, false);
}

const struct gw_check_ops gw_check_tcp = {
	.start = tcp_start,
	.cancel = tcp_cancel,
};
