/* SPDX-License-Identifier: BSD-2-Clause */
#include "control/api_server.h"

#include "api_socket.h"

#include <microhttpd.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define CONNECTION_MEMORY 32768 /* bounds a request's line and headers */

struct gw_api_server {
	uv_poll_t poll;
	uv_timer_t timer;
	struct MHD_Daemon *daemon;
	gw_api_handler *handler;
	void *owner;
	char *path;
	int open_handles;
};

/* A request while its body arrives. */
struct pending {
	char *body;
	size_t length;
	size_t room;
	uint64_t deadline_ns;
	bool too_large;
};

const char *gw_api_argument(const struct gw_api_request *request, const char *name)
{
	const char *value;
	size_t length;

	if (MHD_lookup_connection_value_n(request->connection, MHD_GET_ARGUMENT_KIND, name,
		    strlen(name), &value, &length) != MHD_YES)
		return NULL;
	return value ? value : "";
}

static enum MHD_Result reply_send(struct MHD_Connection *connection, struct gw_api_reply *reply)
{
	char *text = reply->body ? json_dumps(reply->body, JSON_COMPACT) : NULL;
	struct MHD_Response *response;
	enum MHD_Result result;

	json_decref(reply->body);
	if (!text) {
		reply->status = MHD_HTTP_INTERNAL_SERVER_ERROR;
		text = strdup("{\"error\":\"out of memory\"}");
		if (!text)
			return MHD_NO;
	}
	response = MHD_create_response_from_buffer(strlen(text), text, MHD_RESPMEM_MUST_FREE);
	if (!response) {
		free(text);
		return MHD_NO;
	}
	MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, "application/json");
	result = MHD_queue_response(connection, reply->status, response);
	MHD_destroy_response(response);
	return result;
}

static enum MHD_Result error_send(
	struct MHD_Connection *connection, unsigned int status, const char *text)
{
	struct gw_api_reply reply = {status, json_pack("{s:s}", "error", text)};

	return reply_send(connection, &reply);
}

static void request_caller(struct gw_api_request *request)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(request->connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	struct ucred peer = {.uid = (uid_t)-1};
	socklen_t length = sizeof(peer);

	if (info)
		getsockopt(info->connect_fd, SOL_SOCKET, SO_PEERCRED, &peer, &length);
	request->uid = peer.uid;
	request->pid = peer.pid;
}

static enum MHD_Result request_answer(struct gw_api_server *server,
	struct MHD_Connection *connection, const char *url, const char *method,
	const struct pending *pending)
{
	struct gw_api_request request = {
		.method = method,
		.path = url,
		.body = pending->body ? pending->body : "",
		.body_length = pending->length,
		.connection = connection,
	};
	struct gw_api_reply reply = {.status = MHD_HTTP_OK};

	if (pending->too_large)
		return error_send(connection, MHD_HTTP_CONTENT_TOO_LARGE,
			"the request's body is larger than 8 MiB");
	request_caller(&request);
	server->handler(server->owner, &request, &reply);
	return reply_send(connection, &reply);
}

/* What exceeds the limit is read and thrown away, so that the caller gets to read why. */
static enum MHD_Result body_append(struct pending *pending, const char *data, size_t size)
{
	char *grown;
	size_t room;

	if (uv_hrtime() > pending->deadline_ns)
		return MHD_NO;
	if (size > GW_API_BODY_MAX - pending->length)
		pending->too_large = true;
	if (pending->too_large)
		return MHD_YES;
	if (pending->length + size + 1 > pending->room) {
		room = (pending->length + size) * 2 + 1024;
		grown = realloc(pending->body, room);
		if (!grown)
			return MHD_NO;
		pending->body = grown;
		pending->room = room;
	}
	memcpy(pending->body + pending->length, data, size);
	pending->length += size;
	pending->body[pending->length] = 0;
	return MHD_YES;
}

/* libmicrohttpd calls it once for the headers, once for each piece of the body, once at its end. */
static enum MHD_Result request_arrived(void *owner, struct MHD_Connection *connection,
	const char *url, const char *method, const char *version, const char *data, size_t *size,
	void **context)
{
	struct pending *pending = *context;

	if (!pending) {
		pending = *context = calloc(1, sizeof(*pending));
		if (!pending)
			return MHD_NO;
		pending->deadline_ns = uv_hrtime() + GW_API_REQUEST_S * 1000000000ull;
		return MHD_YES;
	}
	if (*size) {
		enum MHD_Result result = body_append(pending, data, *size);

		*size = 0;
		return result;
	}
	return request_answer(owner, connection, url, method, pending);
}

static void request_completed(void *owner, struct MHD_Connection *connection, void **context,
	enum MHD_RequestTerminationCode why)
{
	struct pending *pending = *context;

	if (pending)
		free(pending->body);
	free(pending);
	*context = NULL;
}

static void server_run(struct gw_api_server *server);

static void timer_ran_out(uv_timer_t *timer)
{
	server_run(timer->data);
}

static void poll_ready(uv_poll_t *poll, int status, int events)
{
	server_run(poll->data);
}

static void server_run(struct gw_api_server *server)
{
	unsigned long long timeout_ms;

	MHD_run(server->daemon);
	if (MHD_get_timeout(server->daemon, &timeout_ms) == MHD_YES)
		uv_timer_start(&server->timer, timer_ran_out, timeout_ms, 0);
	else
		uv_timer_stop(&server->timer);
}

static void handle_closed(uv_handle_t *handle)
{
	struct gw_api_server *server = handle->data;

	if (--server->open_handles == 0)
		free(server);
}

static int daemon_start(struct gw_api_server *server, int fd)
{
	server->daemon = MHD_start_daemon(MHD_USE_EPOLL, 0, NULL, NULL, request_arrived, server,
		MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT, GW_API_CONNECTIONS,
		MHD_OPTION_CONNECTION_TIMEOUT, GW_API_IDLE_S, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
		(size_t)CONNECTION_MEMORY, MHD_OPTION_NOTIFY_COMPLETED, request_completed, server,
		MHD_OPTION_END);
	return server->daemon ? 0 : -EIO;
}

int gw_api_server_open(uv_loop_t *loop, const char *path, gw_api_handler *handler, void *owner,
	struct gw_api_server **out)
{
	struct gw_api_server *server = calloc(1, sizeof(*server));
	int fd = -1, ret = -ENOMEM;

	if (!server)
		return -ENOMEM;
	server->handler = handler;
	server->owner = owner;
	server->path = strdup(path);
	if (!server->path)
		goto fail;
	ret = fd = gw_api_socket_listen(path);
	if (fd < 0)
		goto fail;
	ret = daemon_start(server, fd);
	if (ret) {
		unlink(path);
		close(fd);
		goto fail;
	}
	ret = uv_poll_init(loop, &server->poll,
		MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd);
	if (ret) {
		MHD_stop_daemon(server->daemon); /* closes fd */
		unlink(path);
		goto fail;
	}
	uv_timer_init(loop, &server->timer);
	server->poll.data = server->timer.data = server;
	server->open_handles = 2;
	uv_poll_start(&server->poll, UV_READABLE, poll_ready);
	*out = server;
	return 0;
fail:
	free(server->path);
	free(server);
	return ret;
}

void gw_api_server_close(struct gw_api_server *server)
{
	if (!server)
		return;
	uv_close((uv_handle_t *)&server->poll, handle_closed);
	uv_close((uv_handle_t *)&server->timer, handle_closed);
	unlink(server->path);
	MHD_stop_daemon(server->daemon);
	free(server->path);
}
