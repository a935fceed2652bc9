/* SPDX-License-Identifier: BSD-2-Clause */
/* The control socket: the protocol as written, and abused; no descriptor may be left behind. */
#include "dataplane/control_socket.h"
#include "dataplane/stats.h"
#include "dp_harness.h"
#include "frames.h"
#include "suite.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static struct gw_engine *engine;
static struct gw_stats_area stats;
static struct gw_control_socket control;
static int events;
static char path[64];

static int open_fds(void)
{
	DIR *folder = opendir("/proc/self/fd");
	int count = 0;

	while (readdir(folder))
		count++;
	closedir(folder);
	return count;
}

static void start(void)
{
	engine = harness_start(64, 1);
	events = epoll_create1(EPOLL_CLOEXEC);
	snprintf(path, sizeof(path), "/tmp/guideway-test-%d/dataplane.sock", getpid());
	CU_ASSERT_EQUAL_FATAL(gw_stats_open(&stats, engine), 0);
	CU_ASSERT_EQUAL_FATAL(gw_control_socket_open(&control, path, events, engine, &stats), 0);
}

static void stop(void)
{
	char folder[64];

	gw_control_socket_close(&control);
	CU_ASSERT_NOT_EQUAL(access(path, F_OK), 0);
	gw_stats_close(&stats);
	close(events);
	snprintf(folder, sizeof(folder), "/tmp/guideway-test-%d", getpid());
	rmdir(folder);
	harness_stop(engine);
}

/* Lets the server do all it has to do. */
static void serve(void)
{
	struct epoll_event event;

	while (epoll_wait(events, &event, 1, 0) == 1)
		CU_ASSERT_TRUE(gw_control_socket_event(&control, event.data.fd));
}

static int connect_client(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	CU_ASSERT_EQUAL(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	serve();
	return fd;
}

/* Receives one message; the first descriptor that comes with it, or -1, in *fd. */
static ssize_t receive(int client, void *message, size_t size, int *fd)
{
	struct iovec io = {message, size};
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int))];
	} ancillary;
	struct msghdr header = {.msg_iov = &io,
		.msg_iovlen = 1,
		.msg_control = &ancillary,
		.msg_controllen = sizeof(ancillary)};
	ssize_t length = recvmsg(client, &header, MSG_CMSG_CLOEXEC);

	*fd = -1;
	if (length > 0 && CMSG_FIRSTHDR(&header))
		memcpy(fd, CMSG_DATA(CMSG_FIRSTHDR(&header)), sizeof(*fd));
	return length;
}

static bool send_with(int client, const void *message, size_t length, const int *fds, size_t count)
{
	struct iovec io = {(void *)(uintptr_t)message, length};
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(253 * sizeof(int))];
	} ancillary = {};
	struct msghdr header = {.msg_iov = &io, .msg_iovlen = 1};

	if (count) {
		ancillary.head.cmsg_level = SOL_SOCKET;
		ancillary.head.cmsg_type = SCM_RIGHTS;
		ancillary.head.cmsg_len = CMSG_LEN(count * sizeof(int));
		memcpy(CMSG_DATA(&ancillary.head), fds, count * sizeof(int));
		header.msg_control = &ancillary;
		header.msg_controllen = CMSG_SPACE(count * sizeof(int));
	}
	return sendmsg(client, &header, MSG_NOSIGNAL) == (ssize_t)length;
}

static struct gw_message head_of(uint16_t type, size_t length)
{
	return (struct gw_message){GW_MESSAGE_MAGIC, GW_MESSAGE_ABI, type, (uint32_t)length, 4711};
}

static struct gw_message_snapshot snapshot_message(uint64_t version)
{
	return (struct gw_message_snapshot){
		.head = head_of(GW_MESSAGE_SNAPSHOT, sizeof(struct gw_message_snapshot)),
		.version = version};
}

static bool is_closed(int client)
{
	char byte[64];
	ssize_t got;

	serve();
	do {
		got = recv(client, byte, sizeof(byte), MSG_DONTWAIT);
	} while (got > 0);
	return got == 0 || errno == ECONNRESET;
}

/* Takes the greeting; returns the statistics' descriptor. */
static int greet(int client, struct gw_message_hello *hello)
{
	int fd;

	CU_ASSERT_EQUAL(receive(client, hello, sizeof(*hello), &fd), (ssize_t)sizeof(*hello));
	return fd;
}

static void hello_says_what_the_dataplane_has(void)
{
	struct gw_message_hello hello;
	struct gw_stats *map;
	int client, fd;

	start();
	snprintf(engine->port[0].name, sizeof(engine->port[0].name), "net_ring0");
	client = connect_client();
	fd = greet(client, &hello);
	CU_ASSERT_EQUAL(hello.head.magic, GW_MESSAGE_MAGIC);
	CU_ASSERT_EQUAL(hello.head.abi, GW_MESSAGE_ABI);
	CU_ASSERT_EQUAL(hello.head.type, GW_MESSAGE_HELLO);
	CU_ASSERT_EQUAL(hello.head.length, sizeof(hello));
	CU_ASSERT_EQUAL(hello.snapshot_version, 0);
	CU_ASSERT_EQUAL(hello.flow_capacity, 64);
	CU_ASSERT_EQUAL(hello.worker_count, 1);
	CU_ASSERT_EQUAL(hello.port_count, 1);
	CU_ASSERT_EQUAL(hello.pid, (uint32_t)getpid());
	CU_ASSERT_STRING_EQUAL(hello.ports[0].name, "net_ring0");
	CU_ASSERT_EQUAL(hello.ports[0].mtu, 1500);
	map = mmap(NULL, sizeof(*map), PROT_READ, MAP_SHARED, fd, 0);
	CU_ASSERT_NOT_EQUAL_FATAL(map, MAP_FAILED);
	CU_ASSERT_EQUAL(map->magic, GW_STATS_MAGIC);
	CU_ASSERT_EQUAL(map->sequence % 2, 0);
	/* Its reader can neither write nor shorten it. */
	CU_ASSERT_EQUAL(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0), MAP_FAILED);
	CU_ASSERT_NOT_EQUAL(ftruncate(fd, 0), 0);
	munmap(map, sizeof(*map));
	close(fd);
	close(client);
	serve();
	stop();
}

static void the_socket_is_the_owners_and_his_groups(void)
{
	struct stat status;

	start();
	CU_ASSERT_EQUAL(stat(path, &status), 0);
	CU_ASSERT_EQUAL(status.st_mode & 0777, 0660);
	stop();
}

static void a_second_server_is_refused_and_a_stale_socket_taken_over(void)
{
	struct gw_control_socket second;
	int kept;

	start();
	CU_ASSERT_EQUAL(gw_control_socket_open(&second, path, events, engine, &stats), -EADDRINUSE);
	serve();
	/* A server that died leaves its path behind. */
	kept = dup(control.connection);
	close(control.listener);
	if (kept >= 0)
		close(kept);
	CU_ASSERT_EQUAL(gw_control_socket_open(&second, path, events, engine, &stats), 0);
	control = second;
	stop();
}

static uint32_t image_lost; /* control_lost_s of the next image */

static int simple_image(uint64_t version)
{
	struct gw_vip vip = image_vip("203.0.113.10", 128);
	const uint32_t members[] = {0};
	const struct image_pool pool = {
		.id = 0, .table_size = 101, .members = members, .member_count = 1, .digest = 1};
	const struct gw_service service = {.pool = 0};
	const struct gw_backend backend = image_backend(0, 0, "10.82.0.11", "10.82.0.101");
	const struct gw_next_hop hop = image_next_hop("10.82.0.101");
	struct gw_snapshot_header *image;
	int fd;

	vip.any_service = 0;
	image = image_make(&(struct image_spec){.version = version,
		.pools = &pool,
		.pool_count = 1,
		.services = &service,
		.service_count = 1,
		.vips = &vip,
		.vip_count = 1,
		.backends = &backend,
		.backend_count = 1,
		.next_hops = &hop,
		.next_hop_count = 1});
	image->control_lost_s = image_lost;
	fd = image_memfd(image, image->total_size, IMAGE_SEALS);
	free(image);
	return fd;
}

static void send_snapshot(int client, uint64_t version)
{
	struct gw_message_snapshot message = snapshot_message(version);
	int fd = simple_image(version);

	CU_ASSERT_TRUE(send_with(client, &message, sizeof(message), &fd, 1));
	close(fd);
	serve();
}

static void a_snapshot_a_flow_and_statistics_are_answered(void)
{
	static struct gw_message_snapshot_reply reply;
	struct gw_message_hello hello;
	struct gw_message_flow_reply flow;
	struct gw_message_flow_get get = {.head = head_of(GW_MESSAGE_FLOW_GET, sizeof(get)),
		.key = {.protocol = 6,
			.source = image_address("198.51.100.7"),
			.destination = image_address("203.0.113.10"),
			.source_port = GW_HTONS(40000),
			.destination_port = GW_HTONS(80)}};
	struct gw_message ask = head_of(GW_MESSAGE_STATS_GET, sizeof(ask));
	struct frame frame = frame_v4();
	const struct gw_traffic *traffic;
	int client, fd, none;

	start();
	client = connect_client();
	fd = greet(client, &hello);
	send_snapshot(client, 3);
	CU_ASSERT_EQUAL(receive(client, &reply, sizeof(reply), &none),
		(ssize_t)offsetof(struct gw_message_snapshot_reply, missing));
	CU_ASSERT_EQUAL(reply.head.id, 4711);
	CU_ASSERT_EQUAL(reply.result, GW_SNAPSHOT_IN_FORCE);
	CU_ASSERT_EQUAL(reply.in_force, 3);

	harness_run(engine, harness_frame(engine, frame.bytes, frame.length, 1), NULL, NULL);
	send_with(client, &get, sizeof(get), NULL, 0);
	serve();
	CU_ASSERT_EQUAL(receive(client, &flow, sizeof(flow), &none), (ssize_t)sizeof(flow));
	CU_ASSERT_EQUAL(flow.found, 1);
	CU_ASSERT_EQUAL(flow.backend, 0);
	CU_ASSERT_EQUAL(flow.state, GW_FLOW_NEW);
	CU_ASSERT(flow.age <= 1);
	get.key.source_port = GW_HTONS(40001);
	send_with(client, &get, sizeof(get), NULL, 0);
	serve();
	CU_ASSERT_EQUAL(receive(client, &flow, sizeof(flow), &none), (ssize_t)sizeof(flow));
	CU_ASSERT_EQUAL(flow.found, 0);

	send_with(client, &ask, sizeof(ask), NULL, 0);
	serve();
	CU_ASSERT_EQUAL(receive(client, &ask, sizeof(ask), &none), (ssize_t)sizeof(ask));
	CU_ASSERT_EQUAL(ask.type, GW_MESSAGE_STATS_REPLY);
	CU_ASSERT_EQUAL(stats.map->counters.rx, 1);
	CU_ASSERT_EQUAL(stats.map->counters.tx, 1);
	CU_ASSERT_EQUAL(stats.map->snapshot_version, 3);
	CU_ASSERT_EQUAL(stats.map->backend_traffic.count, 1);
	traffic = (const void *)((const uint8_t *)stats.map + stats.map->backend_traffic.offset);
	CU_ASSERT_EQUAL(traffic[0].packets, 1);
	CU_ASSERT_EQUAL(traffic[0].bytes, 45);
	close(fd);
	close(client);
	serve();
	stop();
}

/* Whether it hangs or is gone makes no difference; packets are another matter. */
static void the_node_withdraws_when_control_is_silent_for_too_long(void)
{
	struct gw_message alive = head_of(GW_MESSAGE_ALIVE, sizeof(alive));
	const uint64_t second = 1000000000;
	int client;

	start();
	client = connect_client();
	image_lost = 5;
	send_snapshot(client, 7);
	image_lost = 0;
	gw_control_socket_tick(&control);
	CU_ASSERT_FALSE(engine->withdrawn);
	control.heard_ns -= 4 * second;
	gw_control_socket_tick(&control);
	CU_ASSERT_FALSE(engine->withdrawn);
	control.heard_ns -= 2 * second;
	gw_control_socket_tick(&control);
	CU_ASSERT_TRUE(engine->withdrawn);
	CU_ASSERT_TRUE(send_with(client, &alive, sizeof(alive), NULL, 0));
	serve();
	gw_control_socket_tick(&control);
	CU_ASSERT_FALSE(engine->withdrawn);
	send_snapshot(client, 8); /* without a limit */
	control.heard_ns -= 3600 * second;
	gw_control_socket_tick(&control);
	CU_ASSERT_FALSE(engine->withdrawn);
	close(client);
	serve();
	stop();
}

static void a_newer_connection_replaces_the_older(void)
{
	struct gw_message_hello hello;
	int first, second, fd;

	start();
	first = connect_client();
	send_snapshot(first, 8);
	second = connect_client();
	CU_ASSERT_TRUE(is_closed(first));
	fd = greet(second, &hello);
	CU_ASSERT_EQUAL(hello.snapshot_version, 8);
	close(fd);
	close(first);
	close(second);
	serve();
	stop();
}

/* Sends one thing that breaks the protocol: the connection closes, what was in force stays. */
static void abuse(const void *message, size_t length, size_t fd_count)
{
	struct gw_message_hello hello;
	int client, fd, fds[253], before;

	client = connect_client();
	close(greet(client, &hello));
	send_snapshot(client, engine->generation ? engine->generation->version + 1 : 1);
	fd = simple_image(1000);
	for (size_t i = 0; i < fd_count; i++)
		fds[i] = fd;
	before = open_fds();
	CU_ASSERT_TRUE(send_with(client, message, length, fds, fd_count));
	CU_ASSERT_TRUE(is_closed(client));
	CU_ASSERT_EQUAL(control.connection, -1);
	CU_ASSERT_EQUAL(open_fds(), before - 1); /* its own end of the connection */
	CU_ASSERT_NOT_EQUAL(engine->generation->version, 1000);
	close(fd);
	close(client);
}

static void whatever_breaks_the_protocol_closes_the_connection(void)
{
	static uint8_t big[GW_MESSAGE_MAX + 1];
	struct gw_message_snapshot message = snapshot_message(1000), bad;
	struct gw_message ask = head_of(GW_MESSAGE_STATS_GET, sizeof(ask));
	struct gw_message_flow_get get = {.head = head_of(GW_MESSAGE_FLOW_GET, sizeof(get))};
	int before;

	start();
	before = open_fds();
	abuse("x", 1, 0);
	abuse("x", 1, 3);
	abuse("", 0, 1);
	abuse(big, 100, 0);
	abuse(big, sizeof(big), 1);
	abuse(&message, sizeof(message), 0);
	abuse(&message, sizeof(message), 2);
	abuse(&message, sizeof(message), 253);
	abuse(&message, sizeof(message) - 1, 1);
	abuse(&ask, sizeof(ask), 1);
	abuse(&get, sizeof(get), 1);
	abuse(&get, sizeof(get) - 4, 0);
	bad = message;
	bad.head.magic++;
	abuse(&bad, sizeof(bad), 1);
	bad = message;
	bad.head.abi++;
	abuse(&bad, sizeof(bad), 1);
	bad = message;
	bad.head.length++;
	abuse(&bad, sizeof(bad), 1);
	for (uint16_t type = 0; type < 20; type++) {
		bad = message;
		bad.head.type = type;
		if (type != GW_MESSAGE_SNAPSHOT)
			abuse(&bad, sizeof(bad), 1);
	}
	CU_ASSERT_EQUAL(open_fds(), before);
	stop();
}

static void whoever_reads_no_replies_loses_the_connection(void)
{
	struct gw_message ask = head_of(GW_MESSAGE_STATS_GET, sizeof(ask));
	int client;
	bool gone = false;

	start();
	client = connect_client();
	for (int i = 0; i < 100000 && !gone; i++) {
		gone = !send_with(client, &ask, sizeof(ask), NULL, 0) && errno == EPIPE;
		serve();
	}
	CU_ASSERT_TRUE(gone);
	CU_ASSERT_EQUAL(control.connection, -1);
	close(client);
	/* The next one is served. */
	client = connect_client();
	CU_ASSERT_NOT_EQUAL(control.connection, -1);
	close(client);
	serve();
	CU_ASSERT_EQUAL(control.connection, -1);
	stop();
}

static const struct gw_test tests[] = {
	GW_TEST(hello_says_what_the_dataplane_has),
	GW_TEST(the_socket_is_the_owners_and_his_groups),
	GW_TEST(a_second_server_is_refused_and_a_stale_socket_taken_over),
	GW_TEST(a_snapshot_a_flow_and_statistics_are_answered),
	GW_TEST(the_node_withdraws_when_control_is_silent_for_too_long),
	GW_TEST(a_newer_connection_replaces_the_older),
	GW_TEST(whatever_breaks_the_protocol_closes_the_connection),
	GW_TEST(whoever_reads_no_replies_loses_the_connection),
};

GW_SUITE("dp_socket", tests)
