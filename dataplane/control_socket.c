/* SPDX-License-Identifier: BSD-2-Clause */
#include "control_socket.h"

#include "base/log.h"
#include "engine.h"
#include "snapshot.h"
#include "stats.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define FDS_MAX 253 /* SCM_MAX_FD: what one message can carry at most */

/* Opening ---------------------------------------------------------------------------------- */

static int watch(struct gw_control_socket *control, int fd)
{
	struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};

	return epoll_ctl(control->epoll, EPOLL_CTL_ADD, fd, &event) < 0 ? -errno : 0;
}

/* The folder of a path like /run/guideway/dataplane.sock; it is fine when it is there. */
static void make_folder(const char *path)
{
	char folder[108];
	char *slash;

	snprintf(folder, sizeof(folder), "%s", path);
	slash = strrchr(folder, '/');
	if (slash && slash != folder) {
		*slash = 0;
		mkdir(folder, 0755);
	}
}

/* Removes a socket that nobody serves any more. */
static int remove_stale(const struct sockaddr_un *address)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	int error = 0;

	if (fd < 0)
		return -errno;
	if (connect(fd, (const struct sockaddr *)address, sizeof(*address)) == 0)
		error = -EADDRINUSE;
	else if (errno == ECONNREFUSED && unlink(address->sun_path) < 0)
		error = -errno;
	close(fd);
	return error;
}

static uint64_t clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

int gw_control_socket_open(struct gw_control_socket *control, const char *path, int epoll,
	struct gw_engine *engine, struct gw_stats_area *stats)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct gw_control_socket made = {.engine = engine,
		.stats = stats,
		.connection = -1,
		.epoll = epoll,
		.heard_ns = clock_ns()};
	mode_t mask;
	int error;

	if (strlen(path) >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	snprintf(made.path, sizeof(made.path), "%s", path);
	make_folder(path);
	error = remove_stale(&address);
	if (error)
		return error;
	made.listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (made.listener < 0)
		return -errno;
	mask = umask(0117); /* its group may: control need not be the same user */
	error = bind(made.listener, (const struct sockaddr *)&address, sizeof(address)) < 0 ? -errno
											    : 0;
	umask(mask);
	if (!error && listen(made.listener, 4) < 0)
		error = -errno;
	if (!error)
		error = watch(&made, made.listener);
	if (error) {
		close(made.listener);
		return error;
	}
	*control = made;
	return 0;
}

static void connection_close(struct gw_control_socket *control)
{
	if (control->connection < 0)
		return;
	close(control->connection);
	control->connection = -1;
}

void gw_control_socket_close(struct gw_control_socket *control)
{
	connection_close(control);
	close(control->listener);
	unlink(control->path);
}

/* Sending ---------------------------------------------------------------------------------- */

/* Fills the head and sends; whoever does not read its replies loses the connection. */
static void reply_send(struct gw_control_socket *control, void *message, size_t length,
	enum gw_message_type type, uint32_t id, int fd)
{
	struct gw_message *head = message;
	struct iovec io = {.iov_base = message, .iov_len = length};
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int))];
	} ancillary = {};
	struct msghdr header = {.msg_iov = &io, .msg_iovlen = 1};

	*head = (struct gw_message){.magic = GW_MESSAGE_MAGIC,
		.abi = GW_MESSAGE_ABI,
		.type = (uint16_t)type,
		.length = (uint32_t)length,
		.id = id};
	if (fd >= 0) {
		ancillary.head.cmsg_level = SOL_SOCKET;
		ancillary.head.cmsg_type = SCM_RIGHTS;
		ancillary.head.cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(&ancillary.head), &fd, sizeof(fd));
		header.msg_control = &ancillary;
		header.msg_controllen = sizeof(ancillary.room);
	}
	if (sendmsg(control->connection, &header, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)length)
		return;
	gw_log_warning("control's connection: a reply could not be sent (%s); closing it",
		strerror(errno));
	connection_close(control);
}

static void hello_send(struct gw_control_socket *control)
{
	const struct gw_engine *engine = control->engine;
	struct gw_message_hello hello = {
		.snapshot_version = engine->generation ? engine->generation->version : 0,
		.flow_capacity = gw_flow_table_capacity(&engine->flows),
		.start_time_ns = engine->start_time_ns,
		.pid = (uint32_t)getpid(),
		.worker_count = engine->worker_count,
		.port_count = engine->port_count,
		.version = GW_VERSION,
	};

	for (uint16_t i = 0; i < engine->port_count; i++) {
		const struct gw_port *port = &engine->port[i];
		struct gw_hello_port *to = &hello.ports[i];

		memcpy(to->name, port->name, sizeof(to->name));
		memcpy(to->kernel, port->kernel, sizeof(to->kernel));
		memcpy(to->driver, port->driver, sizeof(to->driver));
		memcpy(to->mac, port->mac.addr_bytes, sizeof(to->mac));
		to->mtu = __atomic_load_n(&port->mtu, __ATOMIC_RELAXED);
		to->queues = port->rx_queues;
		to->link_up = __atomic_load_n(&port->link_up, __ATOMIC_RELAXED);
	}
	reply_send(control, &hello, sizeof(hello), GW_MESSAGE_HELLO, 0, control->stats->fd);
}

static void connection_accept(struct gw_control_socket *control)
{
	int fd = accept4(control->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

	if (fd < 0)
		return;
	if (control->connection >= 0)
		gw_log_info("a newer control connects; closing the older connection");
	connection_close(control);
	control->connection = fd;
	if (watch(control, fd) < 0) {
		connection_close(control);
		return;
	}
	gw_stats_update(control->stats, control->engine);
	hello_send(control);
}

/* Receiving -------------------------------------------------------------------------------- */

struct received {
	union {
		struct gw_message head;
		struct gw_message_snapshot snapshot;
		struct gw_message_flow_get flow_get;
		struct gw_message_node node;
		uint8_t bytes[GW_MESSAGE_MAX];
	};
	size_t length;
	int fds[FDS_MAX];
	size_t fd_count;
};

static void fds_collect(struct received *received, struct msghdr *header)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(header); c; c = CMSG_NXTHDR(header, c)) {
		size_t count;

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		if (count > FDS_MAX - received->fd_count)
			count = FDS_MAX - received->fd_count;
		memcpy(received->fds + received->fd_count, CMSG_DATA(c), count * sizeof(int));
		received->fd_count += count;
	}
}

static void fds_close(struct received *received)
{
	for (size_t i = 0; i < received->fd_count; i++)
		close(received->fds[i]);
	received->fd_count = 0;
}

/* Returns 1 for a message, 0 for none now, -errno when the connection is at its end. */
static int message_receive(int connection, struct received *received)
{
	struct iovec io = {.iov_base = received->bytes, .iov_len = sizeof(received->bytes)};
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(FDS_MAX * sizeof(int))];
	} ancillary;
	struct msghdr header = {.msg_iov = &io,
		.msg_iovlen = 1,
		.msg_control = &ancillary,
		.msg_controllen = sizeof(ancillary)};
	ssize_t length = recvmsg(connection, &header, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);

	received->fd_count = received->length = 0;
	if (length < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	fds_collect(received, &header);
	received->length = (size_t)length;
	if (header.msg_flags & (MSG_TRUNC | MSG_CTRUNC))
		return -EMSGSIZE;
	return length ? 1 : -ENOTCONN;
}

static void snapshot_handle(struct gw_control_socket *control, struct received *received)
{
	/* 16 kB: main's alone. */
	static struct gw_message_snapshot_reply reply;
	size_t length;

	gw_snapshot_load(control->engine, received->fds[0], received->snapshot.version, &reply);
	if (reply.result == GW_SNAPSHOT_IN_FORCE)
		gw_log_info("snapshot %llu is in force", (unsigned long long)reply.version);
	else
		gw_log_warning(
			"snapshot %llu refused: %s", (unsigned long long)reply.version, reply.text);
	length = offsetof(struct gw_message_snapshot_reply, missing) +
		 reply.missing_count * sizeof(reply.missing[0]);
	reply_send(control, &reply, length, GW_MESSAGE_SNAPSHOT_REPLY, received->head.id, -1);
}

static void stats_handle(struct gw_control_socket *control, struct received *received)
{
	struct gw_message reply;

	gw_stats_update(control->stats, control->engine);
	reply_send(control, &reply, sizeof(reply), GW_MESSAGE_STATS_REPLY, received->head.id, -1);
}

static void flow_handle(struct gw_control_socket *control, struct received *received)
{
	struct gw_message_flow_reply reply = {.backend = GW_NONE};
	const struct gw_engine *engine = control->engine;
	struct gw_flow_place place = gw_flow_table_place(&engine->flows, &received->flow_get.key);
	uint32_t now = gw_clock_seconds();
	const struct gw_flow_timeouts *timeouts = gw_engine_timeouts(engine);
	uint64_t word;

	if (timeouts && gw_flow_lookup(&engine->flows, place, &word) != GW_FLOW_NOWHERE &&
		!gw_flow_expired(word, now, timeouts)) {
		reply.found = 1;
		reply.backend = gw_flow_backend(word);
		reply.state = gw_flow_state(word);
		reply.age = gw_flow_age(word, now);
	}
	reply_send(control, &reply, sizeof(reply), GW_MESSAGE_FLOW_REPLY, received->head.id, -1);
}

/* That it came is all it says. */
static void alive_handle(struct gw_control_socket *control, struct received *received)
{
}

static void node_handle(struct gw_control_socket *control, struct received *received)
{
	bool ordered = received->node.withdrawn != 0;

	if (ordered != control->ordered)
		gw_log_info(ordered ? "the node is withdrawn: it attracts no traffic"
				    : "the node attracts traffic again");
	control->ordered = ordered;
	__atomic_store_n(&control->engine->withdrawn, ordered || control->lost, __ATOMIC_RELAXED);
}

static const struct request {
	uint16_t type;
	size_t length;
	size_t fds;
	void (*handle)(struct gw_control_socket *control, struct received *received);
} requests[] = {
	{GW_MESSAGE_SNAPSHOT, sizeof(struct gw_message_snapshot), 1, snapshot_handle},
	{GW_MESSAGE_STATS_GET, sizeof(struct gw_message), 0, stats_handle},
	{GW_MESSAGE_FLOW_GET, sizeof(struct gw_message_flow_get), 0, flow_handle},
	{GW_MESSAGE_ALIVE, sizeof(struct gw_message), 0, alive_handle},
	{GW_MESSAGE_NODE, sizeof(struct gw_message_node), 0, node_handle},
};

/* The request a message is, when every part of it is as it should be; else NULL. */
static const struct request *request_of(const struct received *received)
{
	const struct gw_message *head = &received->head;

	if (received->length < sizeof(*head) || head->magic != GW_MESSAGE_MAGIC ||
		head->abi != GW_MESSAGE_ABI || head->length != received->length)
		return NULL;
	for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++)
		if (requests[i].type == head->type)
			return received->length == requests[i].length &&
					       received->fd_count == requests[i].fds
				       ? &requests[i]
				       : NULL;
	return NULL;
}

static void connection_read(struct gw_control_socket *control)
{
	/* 64 kB: main's alone. */
	static struct received received;
	const struct request *request;
	int got = message_receive(control->connection, &received);

	if (got == 0)
		return;
	request = got > 0 ? request_of(&received) : NULL;
	if (request) {
		control->heard_ns = clock_ns();
		request->handle(control, &received);
	} else {
		if (got == -ENOTCONN || got == -ECONNRESET)
			gw_log_info("control has gone; forwarding goes on");
		else
			gw_log_warning("control sent %zu bytes and %zu descriptors that are no "
				       "message of ABI %u; closing the connection",
				received.length, received.fd_count, GW_MESSAGE_ABI);
		connection_close(control);
	}
	fds_close(&received);
}

void gw_control_socket_tick(struct gw_control_socket *control)
{
	const struct gw_generation *generation = control->engine->generation;
	uint32_t limit = generation ? generation->control_lost_s : 0;
	uint64_t silence = clock_ns() - control->heard_ns;
	bool lost = limit && silence > limit * 1000000000ull;

	if (lost != control->lost && lost)
		gw_log_warning("control has been silent for %u s: the node announces its addresses "
			       "no longer; what comes is forwarded as before",
			limit);
	else if (lost != control->lost)
		gw_log_info("control is heard again: the node announces its addresses");
	control->lost = lost;
	__atomic_store_n(&control->engine->withdrawn, lost || control->ordered, __ATOMIC_RELAXED);
}

bool gw_control_socket_event(struct gw_control_socket *control, int fd)
{
	if (fd == control->listener)
		connection_accept(control);
	else if (fd == control->connection && fd >= 0)
		connection_read(control);
	else
		return false;
	return true;
}
