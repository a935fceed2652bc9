/* SPDX-License-Identifier: BSD-2-Clause */
#include "control/http_server.h"

#include "base/address.h"

#include <microhttpd.h>

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <unistd.h>

#define NS_PER_S      1000000000ull
#define WATCH_MS      1000
#define FAREWELL_MS   1000
#define DISCARD_BYTES (16u << 20) /* of a body that is refused: more ends the connection */
#define TLS_PRIORITY  "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2"

struct gw_http_server {
	uv_poll_t poll;
	uv_timer_t timer;    /* libmicrohttpd's */
	uv_timer_t watch;    /* slow connections */
	uv_timer_t farewell; /* after gw_http_server_retire */
	struct MHD_Daemon *daemon;
	struct gw_http_handler handler;
	TAILQ_HEAD(, link) links;
	char *unix_path;
	int open_handles;
	bool closed_one; /* a connection, since the last look */
};

/* A connection. */
struct link {
	TAILQ_ENTRY(link) entry;
	int fd;
	uint64_t since_ns; /* the last answer was complete, or it connected */
};

/* A request while its body arrives. */
struct pending {
	char *body;
	size_t length;
	size_t room;
	size_t limit;
	size_t discarded;
};

const char *gw_http_argument(const struct gw_http_request *request, const char *name)
{
	const char *value;
	size_t length;

	if (MHD_lookup_connection_value_n(request->connection, MHD_GET_ARGUMENT_KIND, name,
		    strlen(name), &value, &length) != MHD_YES)
		return NULL;
	return value ? value : "";
}

struct visitor {
	bool (*visit)(void *owner, const char *name);
	void *owner;
};

static enum MHD_Result argument_visit(
	void *context, enum MHD_ValueKind kind, const char *name, const char *value)
{
	const struct visitor *visitor = context;

	return visitor->visit(visitor->owner, name) ? MHD_YES : MHD_NO;
}

void gw_http_arguments(const struct gw_http_request *request,
	bool (*visit)(void *owner, const char *name), void *owner)
{
	struct visitor visitor = {visit, owner};

	MHD_get_connection_values(
		request->connection, MHD_GET_ARGUMENT_KIND, argument_visit, &visitor);
}

const char *gw_http_header(const struct gw_http_request *request, const char *name)
{
	return MHD_lookup_connection_value(request->connection, MHD_HEADER_KIND, name);
}

/* The answer's bytes, given away by the reply; NULL without memory. */
static char *reply_text(struct gw_http_reply *reply, size_t *length)
{
	char *text = reply->text;

	*length = reply->text_length;
	if (reply->json) {
		text = json_dumps(reply->json, JSON_COMPACT);
		*length = text ? strlen(text) : 0;
		json_decref(reply->json);
	}
	if (text)
		return text;
	reply->status = MHD_HTTP_INTERNAL_SERVER_ERROR;
	text = strdup("{\"error\":\"out of memory\"}");
	*length = text ? strlen(text) : 0;
	return text;
}

static enum MHD_Result reply_send(struct MHD_Connection *connection, struct gw_http_reply *reply)
{
	const char *type = reply->text ? reply->text_type : "application/json";
	struct MHD_Response *response;
	enum MHD_Result result;
	size_t length;
	char *text = reply_text(reply, &length);

	if (!text)
		return MHD_NO;
	response = MHD_create_response_from_buffer(length, text, MHD_RESPMEM_MUST_FREE);
	if (!response) {
		free(text);
		return MHD_NO;
	}
	MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
	MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
	if (reply->etag[0])
		MHD_add_response_header(response, MHD_HTTP_HEADER_ETAG, reply->etag);
	if (reply->allow)
		MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, reply->allow);
	if (reply->challenge)
		MHD_add_response_header(
			response, MHD_HTTP_HEADER_WWW_AUTHENTICATE, "Bearer realm=\"guideway\"");
	result = MHD_queue_response(connection, reply->status, response);
	MHD_destroy_response(response);
	return result;
}

static void peer_format(const struct sockaddr *from, char text[static 64])
{
	const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)from;
	const struct sockaddr_in *four = (const struct sockaddr_in *)from;
	uint8_t address[16] = {[10] = 0xff, [11] = 0xff};
	char host[GW_ADDRESS_TEXT];

	if (from->sa_family == AF_INET)
		memcpy(address + 12, &four->sin_addr, 4);
	else if (from->sa_family == AF_INET6)
		memcpy(address, &six->sin6_addr, 16);
	else
		return;
	snprintf(text, 64, from->sa_family == AF_INET6 ? "[%s]:%u" : "%s:%u",
		gw_address_format(address, host),
		ntohs(from->sa_family == AF_INET6 ? six->sin6_port : four->sin_port));
}

static void request_peer(const struct gw_http_server *server, struct gw_http_request *request)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(request->connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	struct sockaddr_storage from = {0};
	struct ucred peer = {.uid = (uid_t)-1};
	socklen_t length = sizeof(peer);

	request->peer = (struct gw_http_peer){.uid = (uid_t)-1};
	if (!info)
		return;
	request->peer.local = server->unix_path != NULL;
	if (request->peer.local) {
		getsockopt(info->connect_fd, SOL_SOCKET, SO_PEERCRED, &peer, &length);
		request->peer.uid = peer.uid;
		request->peer.pid = peer.pid;
		return;
	}
	length = sizeof(from);
	if (!getpeername(info->connect_fd, (struct sockaddr *)&from, &length))
		peer_format((const struct sockaddr *)&from, request->peer.address);
}

/* What exceeds the limit is read and thrown away, so that the caller gets to read why. */
static enum MHD_Result body_append(struct pending *pending, const char *data, size_t size)
{
	char *grown;
	size_t room;

	if (pending->discarded || size > pending->limit - pending->length) {
		pending->discarded += size;
		return pending->discarded < DISCARD_BYTES ? MHD_YES : MHD_NO;
	}
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
	struct gw_http_server *server = owner;
	struct pending *pending = *context;
	struct gw_http_request request = {
		.method = method, .path = url, .body = "", .connection = connection};
	struct gw_http_reply reply = {.status = MHD_HTTP_OK};

	if (pending && *size) {
		enum MHD_Result result = body_append(pending, data, *size);

		*size = 0;
		return result;
	}
	request_peer(server, &request);
	if (!pending) {
		pending = *context = calloc(1, sizeof(*pending));
		if (!pending)
			return MHD_NO;
		pending->limit = server->handler.body_limit(server->handler.owner, &request);
		return MHD_YES;
	}
	request.oversized = pending->discarded > 0;
	if (pending->body && !request.oversized) {
		request.body = pending->body;
		request.body_length = pending->length;
	}
	server->handler.answer(server->handler.owner, &request, &reply);
	return reply_send(connection, &reply);
}

static struct link *link_of(struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	return info ? info->socket_context : NULL;
}

static void request_completed(void *owner, struct MHD_Connection *connection, void **context,
	enum MHD_RequestTerminationCode why)
{
	struct pending *pending = *context;
	struct link *link = link_of(connection);

	if (link)
		link->since_ns = uv_hrtime();
	if (pending)
		free(pending->body);
	free(pending);
	*context = NULL;
}

/* A request that takes too long is cut off at the socket; libmicrohttpd notices and cleans up. */
static void watch_ran_out(uv_timer_t *timer)
{
	struct gw_http_server *server = timer->data;
	uint64_t now = uv_hrtime();
	struct link *link;

	TAILQ_FOREACH(link, &server->links, entry)
	if (now - link->since_ns > GW_HTTP_REQUEST_S * NS_PER_S)
		shutdown(link->fd, SHUT_RDWR);
	if (TAILQ_EMPTY(&server->links))
		uv_timer_stop(timer);
}

static void connection_changed(void *owner, struct MHD_Connection *connection, void **context,
	enum MHD_ConnectionNotificationCode what)
{
	struct gw_http_server *server = owner;
	struct link *link = *context;

	if (what == MHD_CONNECTION_NOTIFY_CLOSED) {
		if (link)
			TAILQ_REMOVE(&server->links, link, entry);
		free(link);
		*context = NULL;
		server->closed_one = true;
		return;
	}
	link = *context = calloc(1, sizeof(*link));
	if (!link)
		return; /* silence still ends it */
	link->fd =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
	link->since_ns = uv_hrtime();
	TAILQ_INSERT_TAIL(&server->links, link, entry);
	if (!uv_is_active((uv_handle_t *)&server->watch))
		uv_timer_start(&server->watch, watch_ran_out, WATCH_MS, WATCH_MS);
}

static void server_run(struct gw_http_server *server);

static void timer_ran_out(uv_timer_t *timer)
{
	server_run(timer->data);
}

static void poll_ready(uv_poll_t *poll, int status, int events)
{
	server_run(poll->data);
}

static void server_run(struct gw_http_server *server)
{
	unsigned long long timeout_ms;

	/* At the limit it stops listening, and begins again not when one closes but when run next.
	 */
	do {
		server->closed_one = false;
		MHD_run(server->daemon);
	} while (server->closed_one);
	if (MHD_get_timeout(server->daemon, &timeout_ms) == MHD_YES)
		uv_timer_start(&server->timer, timer_ran_out, timeout_ms, 0);
	else
		uv_timer_stop(&server->timer);
}

static void handle_closed(uv_handle_t *handle)
{
	struct gw_http_server *server = handle->data;

	if (--server->open_handles == 0)
		free(server);
}

static int daemon_start(struct gw_http_server *server, const struct gw_http_options *options)
{
	const struct gw_http_tls *tls = options->tls;
	struct MHD_OptionItem more[5];
	unsigned int flags = MHD_USE_EPOLL;
	size_t count = 0;

	if (options->listener >= 0)
		more[count++] =
			(struct MHD_OptionItem){MHD_OPTION_LISTEN_SOCKET, options->listener, NULL};
	else
		flags |= MHD_USE_NO_LISTEN_SOCKET;
	if (tls) {
		flags |= MHD_USE_TLS;
		more[count++] =
			(struct MHD_OptionItem){MHD_OPTION_HTTPS_MEM_CERT, 0, tls->certificate};
		more[count++] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_MEM_KEY, 0, tls->key};
		more[count++] = (struct MHD_OptionItem){
			MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)(uintptr_t)TLS_PRIORITY};
	}
	more[count] = (struct MHD_OptionItem){MHD_OPTION_END, 0, NULL};
	server->daemon = MHD_start_daemon(flags, 0, NULL, NULL, request_arrived, server,
		MHD_OPTION_CONNECTION_LIMIT, options->connections,
		MHD_OPTION_PER_IP_CONNECTION_LIMIT, options->connections_each,
		MHD_OPTION_CONNECTION_TIMEOUT, GW_HTTP_IDLE_S, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
		(size_t)GW_HTTP_HEADER_BYTES, MHD_OPTION_NOTIFY_COMPLETED, request_completed,
		server, MHD_OPTION_NOTIFY_CONNECTION, connection_changed, server, MHD_OPTION_ARRAY,
		more, MHD_OPTION_END);
	return server->daemon ? 0 : -EIO;
}

static int handles_open(uv_loop_t *loop, struct gw_http_server *server)
{
	int ret = uv_poll_init(loop, &server->poll,
		MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd);

	if (ret)
		return ret;
	uv_timer_init(loop, &server->timer);
	uv_timer_init(loop, &server->watch);
	uv_timer_init(loop, &server->farewell);
	server->poll.data = server->timer.data = server->watch.data = server->farewell.data =
		server;
	server->open_handles = 4;
	uv_poll_start(&server->poll, UV_READABLE, poll_ready);
	return 0;
}

int gw_http_server_open(uv_loop_t *loop, const struct gw_http_options *options,
	const struct gw_http_handler *handler, struct gw_http_server **out)
{
	struct gw_http_server *server = calloc(1, sizeof(*server));
	int ret = -ENOMEM;

	if (server)
		server->unix_path = options->unix_path ? strdup(options->unix_path) : NULL;
	if (!server || (options->unix_path && !server->unix_path))
		goto fail;
	server->handler = *handler;
	TAILQ_INIT(&server->links);
	ret = daemon_start(server, options);
	if (ret)
		goto fail;
	ret = handles_open(loop, server);
	if (ret) {
		MHD_stop_daemon(server->daemon); /* closes the listener */
		free(server->unix_path);
		free(server);
		return ret;
	}
	*out = server;
	return 0;
fail:
	if (options->listener >= 0)
		close(options->listener);
	if (server)
		free(server->unix_path);
	free(server);
	return ret;
}

void gw_http_server_close(struct gw_http_server *server)
{
	if (!server)
		return;
	uv_close((uv_handle_t *)&server->poll, handle_closed);
	uv_close((uv_handle_t *)&server->timer, handle_closed);
	uv_close((uv_handle_t *)&server->watch, handle_closed);
	uv_close((uv_handle_t *)&server->farewell, handle_closed);
	if (server->unix_path && server->unix_path[0])
		unlink(server->unix_path);
	MHD_stop_daemon(server->daemon);
	free(server->unix_path);
}

static void farewell_ran_out(uv_timer_t *timer)
{
	gw_http_server_close(timer->data);
}

void gw_http_server_retire(struct gw_http_server *server, int *listener)
{
	int fd;

	if (!server)
		return;
	fd = MHD_quiesce_daemon(server->daemon);
	if (server->unix_path && server->unix_path[0]) {
		if (!listener)
			unlink(server->unix_path);
		server->unix_path[0] = 0; /* still local, nothing left to remove */
	}
	if (listener)
		*listener = fd;
	else if (fd >= 0)
		close(fd);
	uv_timer_start(&server->farewell, farewell_ran_out, FAREWELL_MS, 0);
}

int gw_http_server_adopt(struct gw_http_server *server, int fd)
{
	struct sockaddr_storage from = {0};
	socklen_t length = sizeof(from);

	if (getpeername(fd, (struct sockaddr *)&from, &length))
		return -errno; /* as does MHD_add_connection, it leaves fd open */
	if (MHD_add_connection(server->daemon, fd, (struct sockaddr *)&from, length) != MHD_YES)
		return -EIO;
	server_run(server);
	return 0;
}
