/* SPDX-License-Identifier: BSD-2-Clause */
#include "control/publish_dpdk_parts.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

int wire_connect(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	const int yes = 1;
	int fd, status;

	if (strlen(path) >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	strcpy(address.sun_path, path);
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	/* Of a kernel that does not, messages came when they were read. */
	setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &yes, sizeof(yes));
	if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) == 0)
		return fd;
	status = -errno;
	close(fd);
	return status;
}

int wire_send(int connection, void *message, size_t length, enum gw_message_type type, uint32_t id,
	int fd)
{
	struct gw_message *head = message;
	struct iovec io = {.iov_base = message, .iov_len = length};
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int))];
	} control = {0};
	struct msghdr header = {.msg_iov = &io, .msg_iovlen = 1};
	ssize_t sent;

	*head = (struct gw_message){.magic = GW_MESSAGE_MAGIC,
		.abi = GW_MESSAGE_ABI,
		.type = (uint16_t)type,
		.length = (uint32_t)length,
		.id = id};
	if (fd >= 0) {
		control.head.cmsg_level = SOL_SOCKET;
		control.head.cmsg_type = SCM_RIGHTS;
		control.head.cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(&control.head), &fd, sizeof(fd));
		header.msg_control = &control;
		header.msg_controllen = sizeof(control.room);
	}
	do
		sent = sendmsg(connection, &header, MSG_NOSIGNAL | MSG_DONTWAIT);
	while (sent < 0 && errno == EINTR);
	return sent < 0 ? -errno : 0;
}

/* Takes the first descriptor, closes any other. */
static int descriptor_take(struct msghdr *header)
{
	int taken = -1;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(header); c; c = CMSG_NXTHDR(header, c)) {
		size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		for (size_t i = 0; i < count; i++) {
			int fd;

			memcpy(&fd, CMSG_DATA(c) + i * sizeof(fd), sizeof(fd));
			if (taken < 0)
				taken = fd;
			else
				close(fd);
		}
	}
	return taken;
}

/* The kernel notes by the wall clock when a message was sent. */
static uint64_t age_read(struct msghdr *header)
{
	struct timespec now, sent;
	int64_t age = 0;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(header); c; c = CMSG_NXTHDR(header, c)) {
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_TIMESTAMPNS ||
			c->cmsg_len < CMSG_LEN(sizeof(sent)))
			continue;
		memcpy(&sent, CMSG_DATA(c), sizeof(sent));
		clock_gettime(CLOCK_REALTIME, &now);
		age = (now.tv_sec - sent.tv_sec) * 1000000000ll + (now.tv_nsec - sent.tv_nsec);
	}
	return age > 0 ? (uint64_t)age : 0; /* the wall clock may have been set back */
}

static bool length_right(const union wire_message *message, size_t length)
{
	const struct gw_message_snapshot_reply *reply = &message->snapshot_reply;
	const size_t reply_head = offsetof(struct gw_message_snapshot_reply, missing);

	switch (message->head.type) {
	case GW_MESSAGE_HELLO:
		return length == sizeof(message->hello) &&
		       message->hello.port_count <= GW_HELLO_PORTS;
	case GW_MESSAGE_SNAPSHOT_REPLY:
		return length >= reply_head && reply->missing_count <= GW_SNAPSHOT_MISSING &&
		       length == reply_head + reply->missing_count * sizeof(reply->missing[0]);
	case GW_MESSAGE_STATS_REPLY:
		return length == sizeof(message->head);
	case GW_MESSAGE_FLOW_REPLY:
		return length == sizeof(message->flow_reply);
	default:
		return false;
	}
}

int wire_receive(int connection, union wire_message *message, int *fd, uint64_t *age_ns)
{
	struct iovec io = {.iov_base = message, .iov_len = sizeof(*message)};
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(4 * sizeof(int)) + CMSG_SPACE(sizeof(struct timespec))];
	} control;
	struct msghdr header = {.msg_iov = &io,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control)};
	ssize_t length;

	do
		length = recvmsg(connection, &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	while (length < 0 && errno == EINTR);
	if (length < 0)
		return errno == EWOULDBLOCK ? -EAGAIN : errno == ECONNRESET ? -ENOTCONN : -errno;
	*fd = descriptor_take(&header);
	if (length > 0 && (size_t)length >= sizeof(message->head) &&
		!(header.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) &&
		message->head.magic == GW_MESSAGE_MAGIC && message->head.abi == GW_MESSAGE_ABI &&
		message->head.length == (size_t)length && length_right(message, (size_t)length)) {
		*age_ns = age_read(&header);
		return 0;
	}
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
	return length ? -EPROTO : -ENOTCONN;
}
