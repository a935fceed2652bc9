/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The publisher against a server of the socket's protocol that does what a test tells it: late,
 * wrong and lost answers, which the real dataplane (tests/unit/publish_dpdk_live.c) does not give.
 */
#include "control/publish_dpdk.h"

#include "abi/dataplane_socket.h"
#include "control_fixture.h"
#include "dataplane_server.h"
#include "loop_run.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

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
	LOOP_RUN_UNTIL(&bench.loop, bench.in_force_count);
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
	LOOP_RUN_UNTIL(&bench.loop, bench.in_force == 1);
	publish(&bench, 1);
	LOOP_RUN_UNTIL(&bench.loop, bench.in_force == 2);
	CU_ASSERT_EQUAL(bench.server.without, 1);
	CU_ASSERT_EQUAL(bench.server.tables, 1);
	CU_ASSERT_EQUAL(
		bench.server.seals, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE);
	/* It keeps no older tables: q's of version 1 goes again. */
	publish(&bench, 2);
	LOOP_RUN_UNTIL(&bench.loop, bench.in_force == 3);
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
	LOOP_RUN_UNTIL(&bench.loop, bench.in_force == 1);
	bench.server.result_once = GW_SNAPSHOT_MISSING_TABLES;
	publish(&bench, 1);
	LOOP_RUN_UNTIL(&bench.loop, bench.in_force == 2);
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
	LOOP_RUN_UNTIL(&bench.loop, bench.refused_count == 1);
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
	LOOP_RUN_UNTIL(&bench.loop, bench.in_force == 1);
	publish(&bench, 1);
	LOOP_RUN_UNTIL(&bench.loop, bench.in_force == 2);
	server_stop(&bench.server);
	LOOP_RUN_UNTIL(&bench.loop, bench.gone == 1);
	CU_ASSERT_EQUAL(bench.publisher->ops->version(bench.publisher), 0);
	bench.in_force = 0;
	server_start(&bench.server);
	LOOP_RUN_UNTIL(&bench.loop, bench.in_force == 2);
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
	LOOP_RUN_UNTIL(&bench.loop, bench.in_force == 1);
	strcpy(address.sun_path, bench.server.path);
	other = socket(AF_UNIX, SOCK_SEQPACKET, 0);
	CU_ASSERT_EQUAL(connect(other, (struct sockaddr *)&address, sizeof(address)), 0);
	LOOP_RUN_UNTIL(&bench.loop, bench.gone == 1);
	LOOP_RUN_UNTIL(&bench.loop, bench.present == 2);
	close(other);
	CU_ASSERT_EQUAL(bench.server.snapshots, 1);
	CU_ASSERT_EQUAL(bench.publisher->ops->version(bench.publisher), 1);
	publish(&bench, 1);
	LOOP_RUN_UNTIL(&bench.loop, bench.in_force == 2);
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
	LOOP_RUN_UNTIL(&bench.loop, bench.server.snapshots == 1);
	publish(&bench, 1);
	publish(&bench, 2);
	publish(&bench, 3);
	bench.server.hold = false;
	LOOP_RUN_UNTIL(&bench.loop, bench.in_force == 4);
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
	LOOP_RUN_UNTIL(&bench.loop, bench.in_force == 1);
	bench.server.result_once = GW_SNAPSHOT_INVALID;
	publish(&bench, 1);
	LOOP_RUN_UNTIL(&bench.loop, bench.refused_count == 1);
	CU_ASSERT_EQUAL(bench.refused, 2);
	CU_ASSERT_STRING_EQUAL(bench.why, "header: bad luck");
	CU_ASSERT_EQUAL(bench.publisher->ops->version(bench.publisher), 1);
	publish(&bench, 2);
	LOOP_RUN_UNTIL(&bench.loop, bench.in_force == 3);
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
	LOOP_RUN_UNTIL(&bench.loop, bench.in_force == 1);
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
	LOOP_RUN_UNTIL(&bench.loop, bench.present == 1);
	CU_ASSERT_STRING_EQUAL(bench.detail,
		"it has no port for interface eth7; it has 1 workers, the configuration 2 CPUs; "
		"it has room for 1024 flows, the configuration says 4096");
	server_stop(&bench.server);
	bench_close(&bench);
	gw_config_free(config);
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
	LOOP_RUN_UNTIL(&bench.loop, bench.present == 1);
	/* An answer that a busy machine delays is not waited for: what stood there is told. */
	LOOP_RUN_UNTIL(
		&bench.loop, ops->stats(bench.publisher, &stats) == 0 && stats.counters.rx > 0);
	CU_ASSERT_EQUAL(stats.backend_count, 2);
	CU_ASSERT_EQUAL(stats.backends[1].packets, 77);
	CU_ASSERT_EQUAL(stats.backend_flows[1], 5);
	CU_ASSERT_EQUAL(stats.flows_active, 12);
	CU_ASSERT_EQUAL(stats.flow_capacity, 1024);
	LOOP_RUN_UNTIL(&bench.loop, ops->flow(bench.publisher, &key, &answer) == 0);
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
	uint64_t start;

	bench_open(&bench, NULL);
	server_start(&bench.server);
	LOOP_RUN_UNTIL(&bench.loop, bench.present == 1);
	bench.server.deaf = true;
	start = uv_hrtime();
	/* What stands in the memfd is good enough. */
	CU_ASSERT_EQUAL(bench.publisher->ops->stats(bench.publisher, &stats), 0);
	CU_ASSERT_EQUAL(stats.flows_active, 12);
	CU_ASSERT_TRUE(uv_hrtime() - start < LOOP_RUN_LIMIT_MS * 1000000ull);
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
	LOOP_RUN_UNTIL(&bench.loop, bench.present == 1);
	bench.server.hold = true;
	publish(&bench, 0);
	while (!bench.server.snapshots)
		usleep(1000);
	bench.server.deaf = true;
	bench.server.hold = false;
	CU_ASSERT_EQUAL(bench.publisher->ops->stats(bench.publisher, &stats), 0);
	CU_ASSERT_EQUAL(bench.in_force_count, 0); /* events come from the loop alone */
	LOOP_RUN_UNTIL(&bench.loop, bench.in_force == 1);
	server_stop(&bench.server);
	bench_close(&bench);
}

/* Whatever else the loop does meanwhile: the state's writing takes a fifth of a second. */
static void time_until_in_force_ends_when_the_dataplane_says_so_not_when_it_is_read(void)
{
	uint64_t begun_ns, said_ns;
	struct bench bench = {0};

	bench_open(&bench, NULL);
	server_start(&bench.server);
	LOOP_RUN_UNTIL(&bench.loop, bench.present == 1);
	begun_ns = uv_hrtime();
	publish(&bench, 0);
	while (bench.server.in_force != 1)
		usleep(1000);
	said_ns = uv_hrtime();
	usleep(500000);
	LOOP_RUN_UNTIL(&bench.loop, bench.in_force == 1);
	CU_ASSERT(bench.took_ns > 0);
	CU_ASSERT(bench.took_ns < said_ns - begun_ns + 400000000);
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
	LOOP_RUN_UNTIL(&bench.loop, bench.present == 1);
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
	GW_TEST(time_until_in_force_ends_when_the_dataplane_says_so_not_when_it_is_read),
	GW_TEST(statistics_out_of_bounds_are_refused),
};

GW_SUITE("publish_dpdk", tests)
