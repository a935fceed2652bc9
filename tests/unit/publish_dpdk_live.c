/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Builder and publisher against the real guideway-dataplane (its path in GW_DATAPLANE): what
 * control makes, the dataplane's checker accepts and puts in force, also after kill -9.
 */
#include "control/publish_dpdk.h"
#include "control_fixture.h"
#include "loop_run.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

struct bench {
	char *folder;
	char path[128];
	pid_t pid;
	uv_loop_t loop;
	struct gw_publisher *publisher;
	struct gw_config *config;
	struct gw_runtime *runtime;
	struct gw_ids *ids;
	struct gw_build *build;
	int present, gone;
	uint64_t in_force;
	char why[256];
};

static void on_datapath(void *owner, bool present, const char *detail)
{
	struct bench *bench = owner;

	bench->present += present;
	bench->gone += !present;
}

static void on_in_force(void *owner, uint64_t version, uint64_t took_ns)
{
	((struct bench *)owner)->in_force = version;
}

static void on_refused(void *owner, uint64_t version, const char *why)
{
	struct bench *bench = owner;

	snprintf(bench->why, sizeof(bench->why), "%s", why);
	fprintf(stderr, "snapshot %llu refused: %s\n", (unsigned long long)version, why);
}

static void dataplane_start(struct bench *bench)
{
	const char *program = getenv("GW_DATAPLANE");

	CU_ASSERT_PTR_NOT_NULL_FATAL(program);
	bench->pid = fork();
	CU_ASSERT_FATAL(bench->pid >= 0);
	if (bench->pid)
		return;
	execl(program, program, "--port", "net_null0", "--cpus", "0", "--flows", "4096", "--socket",
		bench->path, "--", "--no-huge", "-m", "128", "--in-memory", "--no-pci",
		"--no-telemetry", "--vdev=net_null0,no-rx=1", (char *)NULL);
	_exit(127);
}

static void dataplane_kill(struct bench *bench)
{
	kill(bench->pid, SIGKILL);
	waitpid(bench->pid, NULL, 0);
}

/* Two families, two pools, every kind of state; a prefix, ranges and a service of any protocol. */
static const char everything[] = FIXTURE_NODE
	"pools:\n"
	"  - name: web\n"
	"    on_down: keep\n"
	"    healthcheck: {type: tcp, port: 80}\n"
	"    backends:\n"
	"      - {name: b1, address: 10.82.0.101}\n"
	"      - {name: b2, address: \"fd82::102\", weight: 3}\n"
	"      - {name: b3, address: 10.82.0.103, state: drain}\n"
	"      - {name: b4, address: 10.82.0.104, state: disabled}\n"
	"      - {name: b5, address: 10.82.0.105, weight: 0}\n"
	"  - name: dns\n"
	"    table_size: 1021\n"
	"    healthcheck: {type: tcp, port: 53}\n"
	"    backends: [{name: b1, address: 10.82.0.101}]\n"
	"services:\n"
	"  - {name: web, addresses: [203.0.113.10, \"2001:db8:113::10\"], protocol: tcp,"
	" ports: [80, 8000-8099], pool: web}\n"
	"  - {name: tls, addresses: [203.0.113.10], protocol: tcp, ports: [443], pool: web}\n"
	"  - {name: dns, addresses: [203.0.113.0/24], protocol: udp, ports: [any], pool: dns,"
	" affinity: source_ip, no_service: host}\n"
	"  - {name: rest, addresses: [203.0.113.64/26], protocol: any, ports: [any], pool: dns}\n";

static void publish(struct bench *bench, uint64_t version)
{
	struct gw_build_input input = {.config = bench->config,
		.runtime = bench->runtime,
		.ids = bench->ids,
		.previous = bench->build,
		.version = version,
		.now_ms = 1000};
	char error[GW_BUILD_ERROR] = "";
	struct gw_build *build;

	CU_ASSERT_EQUAL_FATAL(gw_build_make(&input, &build, error), 0);
	gw_build_free(bench->build);
	bench->build = build;
	CU_ASSERT_EQUAL(bench->publisher->ops->publish(bench->publisher, build->snapshot), 0);
}

static void bench_open(struct bench *bench)
{
	struct gw_publisher_events events = {bench, on_datapath, on_in_force, on_refused};
	struct gw_publisher_dpdk_options options = {.socket = bench->path};

	bench->folder = fixture_folder();
	snprintf(bench->path, sizeof(bench->path), "%s/dataplane.sock", bench->folder);
	bench->config = fixture_config(everything);
	bench->ids = gw_ids_new();
	bench->runtime = gw_runtime_new();
	CU_ASSERT_EQUAL(gw_ids_assign(bench->ids, bench->config, 0, NULL), 0);
	CU_ASSERT_EQUAL(gw_runtime_apply(bench->runtime, bench->config, 0, NULL, NULL), 0);
	uv_loop_init(&bench->loop);
	CU_ASSERT_EQUAL_FATAL(
		gw_publisher_dpdk_open(&bench->loop, &options, &events, &bench->publisher), 0);
	dataplane_start(bench);
}

static void bench_close(struct bench *bench)
{
	bench->publisher->ops->close(bench->publisher);
	uv_run(&bench->loop, UV_RUN_DEFAULT);
	CU_ASSERT_EQUAL(uv_loop_close(&bench->loop), 0);
	dataplane_kill(bench);
	gw_build_free(bench->build);
	gw_runtime_free(bench->runtime);
	gw_ids_free(bench->ids);
	gw_config_free(bench->config);
	fixture_folder_remove(bench->folder);
}

static void builds_come_in_force_and_again_after_kill_9(void)
{
	struct bench bench = {0};

	bench_open(&bench);
	publish(&bench, 1);
	LOOP_RUN_UNTIL(&bench.loop, bench.in_force == 1);
	/* One pool changes, the other's table is left out. */
	gw_runtime_set_health(bench.runtime, "web", "b1", GW_HEALTH_DOWN, "refused", 1000);
	publish(&bench, 2);
	LOOP_RUN_UNTIL(&bench.loop, bench.in_force == 2);
	CU_ASSERT_EQUAL(bench.build->rebuilt_count, 1);
	/* A pool without members. */
	gw_runtime_set_health(bench.runtime, "dns", "b1", GW_HEALTH_DOWN, "refused", 1000);
	publish(&bench, 3);
	LOOP_RUN_UNTIL(&bench.loop, bench.in_force == 3);
	gw_runtime_set_health(bench.runtime, "dns", "b1", GW_HEALTH_UP, NULL, 1000);
	publish(&bench, 4);
	LOOP_RUN_UNTIL(&bench.loop, bench.in_force == 4);
	dataplane_kill(&bench);
	LOOP_RUN_UNTIL(&bench.loop, bench.gone == 1);
	bench.in_force = 0;
	dataplane_start(&bench);
	LOOP_RUN_UNTIL(&bench.loop, bench.in_force == 4);
	CU_ASSERT_EQUAL(bench.present, 2);
	CU_ASSERT_STRING_EQUAL(bench.why, "");
	bench_close(&bench);
}

static void statistics_flows_and_hello_are_read(void)
{
	struct gw_publisher_stats stats = {0};
	struct gw_flow_answer answer = {0};
	struct gw_flow_key key = {.protocol = 6};
	struct bench bench = {0};
	const struct gw_publisher_ops *ops;
	struct json_t *json;

	bench_open(&bench);
	ops = bench.publisher->ops;
	publish(&bench, 9);
	LOOP_RUN_UNTIL(&bench.loop, bench.in_force == 9);
	CU_ASSERT_EQUAL(ops->version(bench.publisher), 9);
	/* An answer that a busy machine delays is not waited for: what stood there is told. */
	LOOP_RUN_UNTIL(&bench.loop, ops->stats(bench.publisher, &stats) == 0 &&
					    stats.backend_count == 7); /* ids 1 to 6 */
	CU_ASSERT_EQUAL(stats.service_count, 4);
	CU_ASSERT_EQUAL(stats.counters.rx, 0);
	CU_ASSERT_TRUE(stats.flow_capacity >= 4096);
	LOOP_RUN_UNTIL(&bench.loop, ops->flow(bench.publisher, &key, &answer) == 0);
	CU_ASSERT_FALSE(answer.found);
	json = ops->describe(bench.publisher);
	CU_ASSERT_STRING_EQUAL(
		json_string_value(json_object_get(
			json_array_get(
				json_object_get(json_object_get(json, "dataplane"), "ports"), 0),
			"name")),
		"net_null0");
	json_decref(json);
	/* A stopped process answers nothing; the numbers are there all the same. */
	kill(bench.pid, SIGSTOP);
	CU_ASSERT_EQUAL(ops->stats(bench.publisher, &stats), 0);
	kill(bench.pid, SIGCONT);
	/* A version that is not above the one in force is refused and told. */
	publish(&bench, 5);
	LOOP_RUN_UNTIL(&bench.loop, bench.why[0]);
	CU_ASSERT_EQUAL(ops->version(bench.publisher), 9);
	bench_close(&bench);
}

static const struct gw_test tests[] = {
	GW_TEST(builds_come_in_force_and_again_after_kill_9),
	GW_TEST(statistics_flows_and_hello_are_read),
};

GW_SUITE("publish_dpdk_live", tests)
