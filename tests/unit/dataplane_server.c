/* SPDX-License-Identifier: BSD-2-Clause */
#include "dataplane_server.h"

#include <CUnit/CUnit.h>

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static void message_send(int fd, void *message, size_t length, uint16_t type, uint32_t id, int pass)
{
	struct gw_message *head = message;
	struct iovec io = {message, length};
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int))];
	} control = {0};
	struct msghdr header = {.msg_iov = &io, .msg_iovlen = 1};

	head->magic = GW_MESSAGE_MAGIC;
	head->abi = GW_MESSAGE_ABI;
	head->type = type;
	head->length = (uint32_t)length;
	head->id = id;
	if (pass >= 0) {
		control.head.cmsg_level = SOL_SOCKET;
		control.head.cmsg_type = SCM_RIGHTS;
		control.head.cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(&control.head), &pass, sizeof(pass));
		header.msg_control = &control;
		header.msg_controllen = sizeof(control.room);
	}
	sendmsg(fd, &header, MSG_NOSIGNAL);
}

static void server_hello(struct server *server, int fd)
{
	struct gw_message_hello hello = {.snapshot_version = server->in_force,
		.flow_capacity = 1024,
		.start_time_ns = server->pid,
		.pid = server->pid,
		.worker_count = 1,
		.port_count = 1,
		.version = "test",
		.ports = {{.name = "net_null0", .driver = "net_null", .mtu = 1500}}};

	if (server->wrong_hello > 0) {
		server->wrong_hello--;
		message_send(fd, &hello, sizeof(hello) - 8, GW_MESSAGE_HELLO, 0, server->stats_fd);
		return;
	}
	message_send(fd, &hello, sizeof(hello), GW_MESSAGE_HELLO, 0, server->stats_fd);
}

static void server_look(struct server *server, int memfd)
{
	off_t size = lseek(memfd, 0, SEEK_END);
	const struct gw_snapshot_header *image =
		mmap(NULL, (size_t)size, PROT_READ, MAP_SHARED, memfd, 0);
	const struct gw_pool *pools = (const void *)((const char *)image + image->pools.offset);
	int without = 0, tables = 0;

	for (uint64_t i = 0; i < image->pools.count; i++) {
		without += pools[i].member_count && !pools[i].table_offset;
		tables += pools[i].table_offset != 0;
		if (pools[i].table_offset)
			memcpy(server->slots, (const char *)image + pools[i].table_offset,
				sizeof(server->slots));
	}
	server->seals = fcntl(memfd, F_GET_SEALS);
	server->without = without;
	server->tables = tables;
	if ((uint64_t)size != image->total_size)
		server->seals = -1;
	munmap((void *)image, (size_t)size);
	close(memfd);
}

static void server_answer(struct server *server, int fd)
{
	static struct gw_message_snapshot_reply reply;
	int once = atomic_exchange(&server->result_once, -1);

	reply = (struct gw_message_snapshot_reply){.version = server->pending_version,
		.result = (uint32_t)(once >= 0 ? once : server->result)};
	if (reply.result == GW_SNAPSHOT_IN_FORCE)
		server->in_force = reply.version;
	if (reply.result == GW_SNAPSHOT_INVALID)
		strcpy(reply.text, "header: bad luck");
	if (reply.result == GW_SNAPSHOT_MISSING_TABLES)
		reply.missing_count = 1;
	reply.in_force = server->in_force;
	server->has_pending = false;
	message_send(fd, &reply,
		offsetof(struct gw_message_snapshot_reply, missing) + 4 * reply.missing_count,
		GW_MESSAGE_SNAPSHOT_REPLY, server->pending.id, -1);
}

/* False: the other side is gone. */
static bool server_read(struct server *server, int fd)
{
	union {
		struct gw_message head;
		struct gw_message_snapshot snapshot;
		struct gw_message_flow_get flow;
	} message;
	struct gw_message_flow_reply flow = {.found = 1, .backend = 7, .state = 2, .age = 3};
	struct iovec io = {&message, sizeof(message)};
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int))];
	} control;
	struct msghdr header = {.msg_iov = &io,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control)};
	int memfd;

	if (recvmsg(fd, &header, MSG_CMSG_CLOEXEC) <= 0)
		return false;
	if (message.head.type == GW_MESSAGE_SNAPSHOT) {
		memcpy(&memfd, CMSG_DATA(&control.head), sizeof(memfd));
		server_look(server, memfd);
		server->pending = message.head;
		server->pending_version = message.snapshot.version;
		server->has_pending = true;
		server->snapshots++;
	} else if (message.head.type == GW_MESSAGE_STATS_GET && !server->deaf) {
		server->stats->counters.rx++;
		message_send(fd, &message.head, sizeof(message.head), GW_MESSAGE_STATS_REPLY,
			message.head.id, -1);
	} else if (message.head.type == GW_MESSAGE_FLOW_GET && !server->deaf) {
		message_send(fd, &flow, sizeof(flow), GW_MESSAGE_FLOW_REPLY, message.head.id, -1);
	}
	return true;
}

static void *server_run(void *argument)
{
	struct server *server = argument;
	int fd = -1;

	while (!server->stop) {
		struct pollfd wait[2] = {{server->listener, POLLIN, 0}, {fd, POLLIN, 0}};

		poll(wait, 2, 5);
		if (wait[0].revents) {
			if (fd >= 0)
				close(fd);
			fd = accept(server->listener, NULL, NULL);
			server->accepted++;
			server->has_pending = false;
			server_hello(server, fd);
		} else if (wait[1].revents && !server_read(server, fd)) {
			close(fd);
			fd = -1;
		}
		if (fd >= 0 && server->has_pending && !server->hold)
			server_answer(server, fd);
	}
	if (fd >= 0)
		close(fd);
	return NULL;
}

void server_start(struct server *server)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	unlink(server->path);
	server->stop = false;
	server->in_force = 0;
	server->pid++;
	server->listener = socket(AF_UNIX, SOCK_SEQPACKET, 0);
	strcpy(address.sun_path, server->path);
	CU_ASSERT_EQUAL_FATAL(
		bind(server->listener, (struct sockaddr *)&address, sizeof(address)), 0);
	CU_ASSERT_EQUAL_FATAL(listen(server->listener, 4), 0);
	server->stats_fd = memfd_create("stats", MFD_ALLOW_SEALING);
	CU_ASSERT_EQUAL_FATAL(ftruncate(server->stats_fd, 4096), 0);
	server->stats = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, server->stats_fd, 0);
	*server->stats = (struct gw_stats){.magic = GW_STATS_MAGIC,
		.abi_version = GW_MESSAGE_ABI,
		.total_size = 4096,
		.flows_active = 12,
		.backend_traffic = {2048, 2},
		.backend_flows = {3072, 2}};
	((struct gw_traffic *)((char *)server->stats + 2048))[1].packets = 77;
	((uint32_t *)((char *)server->stats + 3072))[1] = 5;
	fcntl(server->stats_fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW);
	CU_ASSERT_EQUAL_FATAL(pthread_create(&server->thread, NULL, server_run, server), 0);
}

void server_stop(struct server *server)
{
	server->stop = true;
	pthread_join(server->thread, NULL);
	munmap(server->stats, 4096);
	close(server->stats_fd);
	close(server->listener);
}
