/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is on disk when a reload's snapshot is handed to the datapath, and when the reload is over:
 * a control that is killed there starts from that. The daemon is whole but for a dataplane.
 */
#include "base/log.h"
#include "control/daemon.h"
#include "control_fixture.h"
#include "loop_run.h"

#include <jansson.h>

#include <stdio.h>

static const char text_of[] =
	"version: 1\n"
	"node: {name: lb1, source_ipv4: 10.82.0.11}\n"
	"dataplane: {path: dpdk, socket: %s/none.sock}\n"
	"state_dir: %s\n"
	"api: {unix: %s/control.sock}\n"
	"pools:\n"
	"  - {name: web, table_size: 251, backends: ["
	"{name: b1, address: 10.82.0.101}, {name: b2, address: 10.82.0.102%s}"
	"%s]}\n"
	"services:\n"
	"  - {name: web, addresses: [203.0.113.10], protocol: tcp, ports: [80],"
	" pool: web}\n";

static const char drained[] = ", state: drain";
static const char third[] = ", {name: b3, address: 10.82.0.103}";

/* What the configuration's part of the state file says, and how many numbers it knows. */
struct on_disk {
	int64_t version, former;
	bool held;
	bool knows_third;
};

struct bench {
	uv_loop_t loop;
	struct gw_daemon *daemon;
	char *folder;
	char config[64];
	struct gw_publisher_ops ops;
	const struct gw_publisher_ops *true_ops;
	int published;
	struct on_disk then; /* at the last publish */
};

static struct bench bench;

static struct on_disk disk_read(void)
{
	struct on_disk found = {0};
	json_t *root, *config;
	char path[96], *ids;

	snprintf(path, sizeof(path), "%s/" GW_STATE_FILE, bench.folder);
	root = json_load_file(path, 0, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(root);
	config = json_object_get(root, "config");
	found.version = json_integer_value(json_object_get(config, "version"));
	found.former = json_integer_value(json_object_get(config, "former"));
	found.held = json_is_true(json_object_get(config, "held"));
	ids = json_dumps(json_object_get(root, "ids"), 0);
	found.knows_third = strstr(ids, "10.82.0.103") || strstr(ids, "b3");
	free(ids);
	json_decref(root);
	return found;
}

static int publish_watched(struct gw_publisher *publisher, struct gw_snapshot *snapshot)
{
	bench.published++;
	bench.then = disk_read();
	return bench.true_ops->publish(publisher, snapshot);
}

static void file_write(const char *state, const char *more)
{
	FILE *file = fopen(bench.config, "w");

	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	fprintf(file, text_of, bench.folder, bench.folder, bench.folder, state, more);
	CU_ASSERT_EQUAL(fclose(file), 0);
}

static void bench_open(void)
{
	const struct gw_daemon_options options = {.config = bench.config};

	bench = (struct bench){.folder = fixture_folder()};
	snprintf(bench.config, sizeof(bench.config), "%s/config.yaml", bench.folder);
	file_write("", "");
	gw_log_open("test", GW_LOG_ERROR);
	CU_ASSERT_EQUAL_FATAL(uv_loop_init(&bench.loop), 0);
	CU_ASSERT_EQUAL_FATAL(gw_daemon_open(&bench.loop, &options, &bench.daemon), 0);
	CU_ASSERT_EQUAL_FATAL(gw_state_writer_flush(bench.daemon->writer), 0);
	bench.true_ops = bench.daemon->publisher->ops;
	bench.ops = *bench.true_ops;
	bench.ops.publish = publish_watched;
	bench.daemon->publisher->ops = &bench.ops;
}

static void bench_close(void)
{
	gw_daemon_stop(bench.daemon, "end of test");
	uv_run(&bench.loop, UV_RUN_DEFAULT);
	gw_daemon_free(bench.daemon);
	CU_ASSERT_EQUAL(uv_loop_close(&bench.loop), 0);
	fixture_folder_remove(bench.folder);
}

/* ---- tests -------------------------------------------------------------------------------- */

/* What such a file brings, a start makes of the file again: the datapath need not wait. */
static void file_without_new_numbers_is_published_before_the_state_is_written(void)
{
	const struct gw_daemon_wish wish = {.why = "test"};
	struct on_disk before, after;

	bench_open();
	before = disk_read();
	file_write(drained, "");
	CU_ASSERT_EQUAL(gw_daemon_reload(bench.daemon, &wish, NULL), 0);
	after = disk_read();
	CU_ASSERT_EQUAL(bench.published, 1);
	CU_ASSERT_EQUAL(bench.then.version, before.version);
	CU_ASSERT(after.version > before.version);
	bench_close();
}

static void new_numbers_are_on_disk_before_they_are_published(void)
{
	const struct gw_daemon_wish wish = {.why = "test"};

	bench_open();
	CU_ASSERT(!disk_read().knows_third);
	file_write("", third);
	CU_ASSERT_EQUAL(gw_daemon_reload(bench.daemon, &wish, NULL), 0);
	CU_ASSERT_EQUAL(bench.published, 1);
	CU_ASSERT(bench.then.knows_third);
	bench_close();
}

static void what_to_go_back_to_is_on_disk_before_an_unconfirmed_file_is_published(void)
{
	const struct gw_daemon_wish wish = {.why = "test", .confirm_ms = 60000};
	int64_t former;

	bench_open();
	former = disk_read().version;
	file_write(drained, "");
	CU_ASSERT_EQUAL(gw_daemon_reload(bench.daemon, &wish, NULL), 0);
	CU_ASSERT_EQUAL(bench.published, 1);
	CU_ASSERT(former > 0);
	CU_ASSERT_EQUAL(bench.then.former, former);
	bench_close();
}

static void file_is_set_aside_on_disk_before_an_earlier_one_is_published(void)
{
	const struct gw_daemon_wish wish = {.why = "test"};
	uint64_t former;

	bench_open();
	former = (uint64_t)disk_read().version;
	file_write(drained, "");
	CU_ASSERT_EQUAL(gw_daemon_reload(bench.daemon, &wish, NULL), 0);
	CU_ASSERT_EQUAL(gw_daemon_rollback(bench.daemon, former, &wish), 0);
	CU_ASSERT_EQUAL(bench.published, 2);
	CU_ASSERT(bench.then.held);
	/* And the way back: the file counts again. */
	CU_ASSERT_EQUAL(gw_daemon_reload(bench.daemon, &wish, NULL), 0);
	CU_ASSERT_EQUAL(bench.published, 3);
	CU_ASSERT(!bench.then.held);
	bench_close();
}

static const struct gw_test tests[] = {
	GW_TEST(file_without_new_numbers_is_published_before_the_state_is_written),
	GW_TEST(new_numbers_are_on_disk_before_they_are_published),
	GW_TEST(what_to_go_back_to_is_on_disk_before_an_unconfirmed_file_is_published),
	GW_TEST(file_is_set_aside_on_disk_before_an_earlier_one_is_published),
};

GW_SUITE("daemon_reload", tests)
