/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The publisher against a server of the socket's protocol that does what a test tells it: late,
 * wrong and lost answers, which the real dataplane (tests/unit/publish_dpdk_live.c) does not give.
 */
#include "control/publish_dpdk.h"

#include "abi/dataplane_socket.h"
#include "control_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

/* ---- the server --------------------------------------------------------------------------- */

struct server {
	char *folder;
	char path[128];
	pthread_t thread;
	uint32_t pid; /* of its hello */
	atomic_bool stop;
	atomic_int result;	/* enum gw_snapshot_result of the next answers */
	atomic_int result_once; /* for one answer, before `result`; -1: none */
	atomic_bool hold;	/* answers no snapshot while set */
	atomic_bool deaf;	/* answers no question */
	atomic_int wrong_hello; /* closes after that many hellos of a wrong ABI */
	atomic_ullong in_force;
	atomic_int snapshots; /* received */
	atomic_int without;   /* tables left out of the last one */
	atomic_int tables;    /* in the last one */
	uint16_t slots[1021]; /* its last table; to be read after its reply */
	atomic_int seals;
	atomic_int accepted;
	int listener;
	int stats_fd;
	struct gw_stats *stats;
	bool has_pending;
	struct gw_message pending; /* a snapshot not answered yet */
	uint64_t pending_version;
};

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

static void server_start(struct server *server)
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

static void server_stop(struct server *server)
{
	server->stop = true;
	pthread_join(server->thread, NULL);
	munmap(server->stats, 4096);
	close(server->stats_fd);
	close(server->listener);
}

/* ---- what the publisher tells ------------------------------------------------------------- */

struct bench {
	struct server server;
	uv_loop_t loop;
	struct gw_publisher *publisher;
	struct gw_config *config;
	struct gw_runtime *runtime;
	struct gw_ids *ids;
	struct gw_build *build[4];
	int present, gone, in_force_count, refused_count;
	uint64_t in_force, refused;
	uint64_t took_ns;
	char detail[512];
	char why[256];
};

static void on_datapath(void *owner, bool present, const char *detail)
{
	struct bench *bench = owner;

	bench->present += present;
	bench->gone += !present;
	snprintf(bench->detail, sizeof(bench->detail), "%s", detail ? detail : "");
}

static void on_in_force(void *owner, uint64_t version, uint64_t took_ns)
{
	struct bench *bench = owner;

	bench->in_force = version;
	bench->in_force_count++;
	bench->took_ns = took_ns;
}

static void on_refused(void *owner, uint64_t version, const char *why)
{
	struct bench *bench = owner;

	bench->refused = version;
	bench->refused_count++;
	snprintf(bench->why, sizeof(bench->why), "%s", why);
}

static const char two_pools[] =
	FIXTURE_NODE "pools:\n"
		     "  - {name: p, table_size: 1021, healthcheck: {type: tcp, port: 80}, backends:"
		     " [{name: a, address: 10.0.0.1}, {name: b, address: 10.0.0.2}]}\n"
		     "  - {name: q, table_size: 1021, healthcheck: {type: tcp, port: 80}, backends:"
		     " [{name: a, address: 10.0.0.3}, {name: b, address: 10.0.0.4}]}\n";

/* build[i] is of version i + 1; 0 and 2 are alike, in 1 and 3 one backend of q is down. */
static void builds_make(struct bench *bench)
{
	char error[GW_BUILD_ERROR];

	CU_ASSERT_EQUAL(gw_ids_assign(bench->ids, bench->config, 0, NULL), 0);
	CU_ASSERT_EQUAL(gw_runtime_apply(bench->runtime, bench->config, 0, NULL, NULL), 0);
	for (int i = 0; i < 4; i++) {
		struct gw_build_input input = {.config = bench->config,
			.runtime = bench->runtime,
			.ids = bench->ids,
			.previous = i ? bench->build[i - 1] : NULL,
			.version = (uint64_t)i + 1};

		gw_runtime_set_health(
			bench->runtime, "q", "b", i % 2 ? GW_HEALTH_DOWN : GW_HEALTH_UP, NULL, 1);
		CU_ASSERT_EQUAL_FATAL(gw_build_make(&input, &bench->build[i], error), 0);
	}
}

static void bench_open(struct bench *bench, const struct gw_config_dataplane *dataplane)
{
	struct gw_publisher_events events = {bench, on_datapath, on_in_force, on_refused};
	struct gw_publisher_dpdk_options options = {.dataplane = dataplane};

	bench->server.result_once = -1;
	bench->server.folder = fixture_folder();
	snprintf(bench->server.path, sizeof(bench->server.path), "%s/socket", bench->server.folder);
	options.socket = bench->server.path;
	bench->config = fixture_config(two_pools);
	bench->ids = gw_ids_new();
	bench->runtime = gw_runtime_new();
	builds_make(bench);
	uv_loop_init(&bench->loop);
	CU_ASSERT_EQUAL_FATAL(
		gw_publisher_dpdk_open(&bench->loop, &options, &events, &bench->publisher), 0);
}

static void bench_close(struct bench *bench)
{
	bench->publisher->ops->close(bench->publisher);
	uv_run(&bench->loop, UV_RUN_DEFAULT);
	CU_ASSERT_EQUAL(uv_loop_close(&bench->loop), 0);
	for (int i = 0; i < 4; i++)
		gw_build_free(bench->build[i]);
	gw_runtime_free(bench->runtime);
	gw_ids_free(bench->ids);
	gw_config_free(bench->config);
	fixture_folder_remove(bench->server.folder);
}

static void tick(uv_timer_t *timer)
{
}

/* Runs the loop until the condition holds, for two seconds at most. */
#define RUN_UNTIL(bench, condition)                                                                \
	do {                                                                                       \
		uv_timer_t timer;                                                                  \
		uint64_t end;                                                                      \
                                                                                                   \
		uv_timer_init(&(bench)->loop, &timer);                                             \
		uv_timer_start(&timer, tick, 5, 5);                                                \
		uv_update_time(&(bench)->loop);                                                    \
		end = uv_now(&(bench)->loop) + 2000;                                               \
		while (!(condition) && uv_now(&(bench)->loop) < end)                               \
			uv_run(&(bench)->loop, UV_RUN_ONCE);                                       \
		CU_ASSERT(condition);                                                              \
		uv_close((uv_handle_t *)&timer, NULL);                                             \
		uv_run(&(bench)->loop, UV_RUN_NOWAIT);                                             \
	} while (0)

static void publish(struct bench *bench, int i)
{
	CU_ASSERT_EQUAL(
		bench->publisher->ops->publish(bench->publisher, bench->build[i]->snapshot), 0);
}

/* ---- tests -------------------------------------------------------------------------------- */

static void snapshot_given_before_there_is_a_dataplane_is_sent_sealed_when_one_comes(void)
{
	struct bench bench = {0};

	bench_open(&bench, NULL);
	publish(&bench, 0);
	CU_ASSERT_EQUAL(bench.publisher->ops->version(bench.publisher), 0);
	server_start(&bench.server);
	RUN_UNTIL(&bench, bench.in_force_count);
	CU_ASSERT_EQUAL(bench.present, 1);
	CU_ASSERT_EQUAL(bench.in_force, 1);
	CU_ASSERT_EQUAL(bench.publisher->ops->version(bench.publisher), 1);
	CU_ASSERT_EQUAL(
		bench.server.seals, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE);
	CU_ASSERT_EQUAL(bench.server.tables, 2);
	CU_ASSERT_TRUE(bench.took_ns > 0);
	server_stop(&bench.server);
	bench_close(&bench);
}

static void tables_that_the_dataplane_has_are_left_out(void)
{
	struct bench bench = {0};

	bench_open(&bench, NULL);
	server_start(&bench.server);
	publish(&bench, 0);
	RUN_UNTIL(&bench, bench.in_force == 1);
	publish(&bench, 1);
	RUN_UNTIL(&bench, bench.in_force == 2);
	CU_ASSERT_EQUAL(bench.server.without, 1);
	CU_ASSERT_EQUAL(bench.server.tables, 1);
	CU_ASSERT_EQUAL(
		bench.server.seals, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE);
	/* It keeps no older tables: q's of version 1 goes again. */
	publish(&bench, 2);
	RUN_UNTIL(&bench, bench.in_force == 3);
	CU_ASSERT_EQUAL(bench.server.tables, 1);
	CU_ASSERT_EQUAL(memcmp(bench.server.slots, gw_build_pool_find(bench.build[2], "q")->slots,
				sizeof(bench.server.slots)),
		0);
	server_stop(&bench.server);
	bench_close(&bench);
}

static void tables_that_it_misses_are_sent_whole(void)
{
	struct bench bench = {0};

	bench_open(&bench, NULL);
	server_start(&bench.server);
	publish(&bench, 0);
	RUN_UNTIL(&bench, bench.in_force == 1);
	bench.server.result_once = GW_SNAPSHOT_MISSING_TABLES;
	publish(&bench, 1);
	RUN_UNTIL(&bench, bench.in_force == 2);
	CU_ASSERT_EQUAL(bench.server.snapshots, 3);
	CU_ASSERT_EQUAL(bench.server.tables, 2);
	CU_ASSERT_EQUAL(bench.server.without, 0);
	CU_ASSERT_EQUAL(bench.refused_count, 0);
	server_stop(&bench.server);
	bench_close(&bench);
}

/* Whoever misses tables of a whole snapshot is not sent it for ever. */
static void table_missing_from_a_whole_snapshot_is_a_refusal(void)
{
	struct bench bench = {0};

	bench_open(&bench, NULL);
	bench.server.result = GW_SNAPSHOT_MISSING_TABLES;
	server_start(&bench.server);
	publish(&bench, 0);
	RUN_UNTIL(&bench, bench.refused_count == 1);
	CU_ASSERT_EQUAL(bench.server.snapshots, 1);
	server_stop(&bench.server);
	bench_close(&bench);
}

static void restarted_dataplane_gets_everything_again(void)
{
	struct bench bench = {0};

	bench_open(&bench, NULL);
	server_start(&bench.server);
	publish(&bench, 0);
	RUN_UNTIL(&bench, bench.in_force == 1);
	publish(&bench, 1);
	RUN_UNTIL(&bench, bench.in_force == 2);
	server_stop(&bench.server);
	RUN_UNTIL(&bench, bench.gone == 1);
	CU_ASSERT_EQUAL(bench.publisher->ops->version(bench.publisher), 0);
	bench.in_force = 0;
	server_start(&bench.server);
	RUN_UNTIL(&bench, bench.in_force == 2);
	CU_ASSERT_EQUAL(bench.present, 2);
	CU_ASSERT_EQUAL(bench.server.tables, 2);
	server_stop(&bench.server);
	bench_close(&bench);
}

/* Another control took the connection and left: the dataplane has our snapshot still. */
static void connection_lost_and_found_sends_nothing_again(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct bench bench = {0};
	int other;

	bench_open(&bench, NULL);
	server_start(&bench.server);
	publish(&bench, 0);
	RUN_UNTIL(&bench, bench.in_force == 1);
	strcpy(address.sun_path, bench.server.path);
	other = socket(AF_UNIX, SOCK_SEQPACKET, 0);
	CU_ASSERT_EQUAL(connect(other, (struct sockaddr *)&address, sizeof(address)), 0);
	RUN_UNTIL(&bench, bench.gone == 1);
	RUN_UNTIL(&bench, bench.present == 2);
	close(other);
	CU_ASSERT_EQUAL(bench.server.snapshots, 1);
	CU_ASSERT_EQUAL(bench.publisher->ops->version(bench.publisher), 1);
	publish(&bench, 1);
	RUN_UNTIL(&bench, bench.in_force == 2);
	CU_ASSERT_EQUAL(bench.server.without, 1);
	CU_ASSERT_EQUAL(bench.refused_count, 0);
	server_stop(&bench.server);
	bench_close(&bench);
}

static void newest_of_those_waiting_wins(void)
{
	struct bench bench = {0};

	bench_open(&bench, NULL);
	server_start(&bench.server);
	bench.server.hold = true;
	publish(&bench, 0);
	RUN_UNTIL(&bench, bench.server.snapshots == 1);
	publish(&bench, 1);
	publish(&bench, 2);
	publish(&bench, 3);
	bench.server.hold = false;
	RUN_UNTIL(&bench, bench.in_force == 4);
	CU_ASSERT_EQUAL(bench.server.snapshots, 2);
	CU_ASSERT_EQUAL(bench.in_force_count, 2);
	server_stop(&bench.server);
	bench_close(&bench);
}

static void refusal_is_told_with_its_reason_and_the_old_one_stays(void)
{
	struct bench bench = {0};

	bench_open(&bench, NULL);
	server_start(&bench.server);
	publish(&bench, 0);
	RUN_UNTIL(&bench, bench.in_force == 1);
	bench.server.result_once = GW_SNAPSHOT_INVALID;
	publish(&bench, 1);
	RUN_UNTIL(&bench, bench.refused_count == 1);
	CU_ASSERT_EQUAL(bench.refused, 2);
	CU_ASSERT_STRING_EQUAL(bench.why, "header: bad luck");
	CU_ASSERT_EQUAL(bench.publisher->ops->version(bench.publisher), 1);
	publish(&bench, 2);
	RUN_UNTIL(&bench, bench.in_force == 3);
	server_stop(&bench.server);
	bench_close(&bench);
}

static void hello_of_another_abi_is_not_believed(void)
{
	struct bench bench = {0};

	bench_open(&bench, NULL);
	bench.server.wrong_hello = 2;
	server_start(&bench.server);
	publish(&bench, 0);
	RUN_UNTIL(&bench, bench.in_force == 1);
	CU_ASSERT_EQUAL(bench.server.accepted, 3);
	CU_ASSERT_EQUAL(bench.present, 1);
	CU_ASSERT_EQUAL(bench.gone, 0);
	server_stop(&bench.server);
	bench_close(&bench);
}

static void hello_that_differs_from_the_configuration_is_told(void)
{
	struct gw_config *config = fixture_config(
		"version: 1\nnode: {name: lb1, source_ipv4: 10.82.0.11}\n"
		"dataplane: {path: dpdk, interfaces: [{vdev: \"net_null0\"}, {name: eth7}],"
		" cpus: \"1-2\", flows: 4096}\n");
	struct bench bench = {0};

	bench_open(&bench, &config->dataplane);
	server_start(&bench.server);
	RUN_UNTIL(&bench, bench.present == 1);
	CU_ASSERT_STRING_EQUAL(bench.detail,
		"it has no port for interface eth7; it has 1 workers, the configuration 2 CPUs; "
		"it has room for 1024 flows, the configuration says 4096");
	server_stop(&bench.server);
	bench_close(&bench);
	gw_config_free(config);
}

static uint64_t elapsed_ms(const struct timespec *start)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)(now.tv_sec - start->tv_sec) * 1000 +
	       (uint64_t)((now.tv_nsec - start->tv_nsec) / 1000000);
}

static void statistics_and_flows_are_answered(void)
{
	const struct gw_publisher_ops *ops;
	struct gw_publisher_stats stats = {0};
	struct gw_flow_answer answer = {0};
	struct gw_flow_key key = {.protocol = 6};
	struct bench bench = {0};

	bench_open(&bench, NULL);
	ops = bench.publisher->ops;
	CU_ASSERT_EQUAL(ops->stats(bench.publisher, &stats), -ENOTCONN);
	CU_ASSERT_EQUAL(ops->flow(bench.publisher, &key, &answer), -ENOTCONN);
	server_start(&bench.server);
	RUN_UNTIL(&bench, bench.present == 1);
	CU_ASSERT_EQUAL(ops->stats(bench.publisher, &stats), 0);
	CU_ASSERT_EQUAL(stats.counters.rx, 1);
	CU_ASSERT_EQUAL(stats.backend_count, 2);
	CU_ASSERT_EQUAL(stats.backends[1].packets, 77);
	CU_ASSERT_EQUAL(stats.backend_flows[1], 5);
	CU_ASSERT_EQUAL(stats.flows_active, 12);
	CU_ASSERT_EQUAL(stats.flow_capacity, 1024);
	CU_ASSERT_EQUAL(ops->flow(bench.publisher, &key, &answer), 0);
	CU_ASSERT_TRUE(answer.found);
	CU_ASSERT_EQUAL(answer.backend, 7);
	CU_ASSERT_EQUAL(answer.age, 3);
	server_stop(&bench.server);
	bench_close(&bench);
}

static void busy_dataplane_holds_nobody_up(void)
{
	struct gw_publisher_stats stats = {0};
	struct gw_flow_answer answer;
	struct gw_flow_key key = {.protocol = 6};
	struct bench bench = {0};
	struct timespec start;

	bench_open(&bench, NULL);
	server_start(&bench.server);
	RUN_UNTIL(&bench, bench.present == 1);
	bench.server.deaf = true;
	clock_gettime(CLOCK_MONOTONIC, &start);
	/* What stands in the memfd is good enough. */
	CU_ASSERT_EQUAL(bench.publisher->ops->stats(bench.publisher, &stats), 0);
	CU_ASSERT_EQUAL(stats.flows_active, 12);
	CU_ASSERT_TRUE(elapsed_ms(&start) < 200);
	CU_ASSERT_EQUAL(bench.publisher->ops->flow(bench.publisher, &key, &answer), -ETIMEDOUT);
	server_stop(&bench.server);
	bench_close(&bench);
}

static void reply_that_comes_amid_a_question_is_not_lost(void)
{
	struct gw_publisher_stats stats;
	struct bench bench = {0};

	bench_open(&bench, NULL);
	server_start(&bench.server);
	RUN_UNTIL(&bench, bench.present == 1);
	bench.server.hold = true;
	publish(&bench, 0);
	while (!bench.server.snapshots)
		usleep(1000);
	bench.server.deaf = true;
	bench.server.hold = false;
	CU_ASSERT_EQUAL(bench.publisher->ops->stats(bench.publisher, &stats), 0);
	CU_ASSERT_EQUAL(bench.in_force_count, 0); /* events come from the loop alone */
	RUN_UNTIL(&bench, bench.in_force == 1);
	server_stop(&bench.server);
	bench_close(&bench);
}

/* Arrays that reach beyond the area, as a broken dataplane might say. */
static void statistics_out_of_bounds_are_refused(void)
{
	struct gw_publisher_stats stats = {0};
	struct bench bench = {0};

	bench_open(&bench, NULL);
	server_start(&bench.server);
	RUN_UNTIL(&bench, bench.present == 1);
	bench.server.stats->backend_traffic.count = 200;
	CU_ASSERT_EQUAL(bench.publisher->ops->stats(bench.publisher, &stats), -EPROTO);
	bench.server.stats->backend_traffic = (struct gw_section){UINT64_MAX - 63, 2};
	CU_ASSERT_EQUAL(bench.publisher->ops->stats(bench.publisher, &stats), -EPROTO);
	bench.server.stats->sequence = 1; /* a writer that died in the middle */
	CU_ASSERT_EQUAL(bench.publisher->ops->stats(bench.publisher, &stats), -EAGAIN);
	server_stop(&bench.server);
	bench_close(&bench);
}

static const struct gw_test tests[] = {
	GW_TEST(snapshot_given_before_there_is_a_dataplane_is_sent_sealed_when_one_comes),
	GW_TEST(tables_that_the_dataplane_has_are_left_out),
	GW_TEST(tables_that_it_misses_are_sent_whole),
	GW_TEST(table_missing_from_a_whole_snapshot_is_a_refusal),
	GW_TEST(restarted_dataplane_gets_everything_again),
	GW_TEST(connection_lost_and_found_sends_nothing_again),
	GW_TEST(newest_of_those_waiting_wins),
	GW_TEST(refusal_is_told_with_its_reason_and_the_old_one_stays),
	GW_TEST(hello_of_another_abi_is_not_believed),
	GW_TEST(hello_that_differs_from_the_configuration_is_told),
	GW_TEST(statistics_and_flows_are_answered),
	GW_TEST(busy_dataplane_holds_nobody_up),
	GW_TEST(reply_that_comes_amid_a_question_is_not_lost),
	GW_TEST(statistics_out_of_bounds_are_refused),
};

GW_SUITE("publish_dpdk", tests)
