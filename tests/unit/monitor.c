/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The monitor against listeners on loopback, in one event loop: it must find what is up and what is
 * down, and keep what it knows over changes of the configuration. Models are made by hand, since a
 * file may not name loopback addresses as backends.
 */
#include "control/monitor.h"

#include "base/address.h"
#include "loop_run.h"
#include "suite.h"

#include <uv.h>

#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#define BACKENDS 2

/* No probe ever runs out of time: a busy machine must not look like a backend that is down. */
#define TIMEOUT_MS 60000

static uv_loop_t loop;
static uv_tcp_t listener;
static uint16_t port;
static struct gw_monitor *monitor;

static struct model {
	struct gw_config config;
	struct gw_config_pool pool;
	struct gw_config_backend backends[BACKENDS];
} models[2];

static enum gw_health healths[BACKENDS];
static bool is_presumed;
static int changes;
static int failures;
static int failures_at_down; /* how many probes had failed when a backend went down */
static char last_cause[GW_HEALTH_CAUSE];

static int backend_of(const char *name)
{
	return name[1] - '1';
}

static enum gw_health known(void *owner, const char *pool, const char *name)
{
	return healths[backend_of(name)];
}

static bool presumed(void *owner, const char *pool, const char *name)
{
	return is_presumed;
}

static void changed(
	void *owner, const char *pool, const char *name, const struct gw_health_change *change)
{
	CU_ASSERT_STRING_EQUAL(pool, "web");
	CU_ASSERT_EQUAL(change->from, healths[backend_of(name)]);
	healths[backend_of(name)] = change->to;
	snprintf(last_cause, sizeof(last_cause), "%s", change->cause);
	if (change->to == GW_HEALTH_DOWN)
		failures_at_down = failures;
	changes++;
}

static void failed(void *owner, const char *pool, const char *name, const char *text)
{
	failures++;
}

static void connected(uv_stream_t *stream, int status)
{
	/* Connections stay in the backlog: the handshake is all that the check asks for. */
}

/* b1 and b2 at 127.0.0.1 and the second address, probed every 20 ms. */
static void model_make(struct model *model, const char *second, size_t count)
{
	memset(model, 0, sizeof(*model));
	model->config.pools = &model->pool;
	model->config.pool_count = 1;
	model->pool.name = "web";
	model->pool.backends = model->backends;
	model->pool.backend_count = count;
	model->pool.check = (struct gw_config_check){.type = GW_CONFIG_CHECK_TCP,
		.interval_ms = 20,
		.timeout_ms = TIMEOUT_MS,
		.rise = 2,
		.fall = 3,
		.port = port};
	model->backends[0].name = "b1";
	model->backends[0].id = "web/b1";
	gw_address_parse("127.0.0.1", model->backends[0].address);
	model->backends[1].name = "b2";
	model->backends[1].id = "web/b2";
	gw_address_parse(second, model->backends[1].address);
}

/* A listener at 127.0.0.1 only: 127.0.0.2 refuses. */
static void begin(void)
{
	const struct gw_monitor_events events = {
		.known = known, .presumed = presumed, .changed = changed, .failed = failed};
	struct sockaddr_in address;
	int length = sizeof(address);

	uv_loop_init(&loop);
	uv_tcp_init(&loop, &listener);
	uv_ip4_addr("127.0.0.1", 0, &address);
	CU_ASSERT_EQUAL_FATAL(uv_tcp_bind(&listener, (struct sockaddr *)&address, 0), 0);
	CU_ASSERT_EQUAL_FATAL(uv_listen((uv_stream_t *)&listener, 128, connected), 0);
	uv_tcp_getsockname(&listener, (struct sockaddr *)&address, &length);
	port = ntohs(address.sin_port);
	changes = failures = failures_at_down = 0;
	healths[0] = healths[1] = GW_HEALTH_UNKNOWN;
	is_presumed = false;
	CU_ASSERT_EQUAL_FATAL(gw_monitor_new(&loop, &events, &monitor), 0);
}

static void end(void)
{
	gw_monitor_free(monitor);
	if (!uv_is_closing((uv_handle_t *)&listener))
		uv_close((uv_handle_t *)&listener, NULL);
	uv_run(&loop, UV_RUN_DEFAULT);
	CU_ASSERT_EQUAL(uv_loop_close(&loop), 0);
}

static void run_for(uint64_t milliseconds)
{
	loop_run_for(&loop, milliseconds);
}

static bool has_changes(void *of)
{
	return changes >= *(const int *)of;
}

static void run_until(int wanted)
{
	CU_ASSERT_TRUE(loop_run_until(&loop, has_changes, &wanted));
	CU_ASSERT_EQUAL(changes, wanted);
}

static void what_listens_is_up_and_what_refuses_is_down(void)
{
	begin();
	model_make(&models[0], "127.0.0.2", 2);
	CU_ASSERT_EQUAL(gw_monitor_configure(monitor, &models[0].config), 0);
	run_until(2);
	CU_ASSERT_EQUAL(healths[0], GW_HEALTH_UP);
	CU_ASSERT_EQUAL(healths[1], GW_HEALTH_DOWN);
	CU_ASSERT_TRUE(failures >= 3);
	end();
}

static void an_end_is_noticed_with_its_cause(void)
{
	begin();
	model_make(&models[0], "127.0.0.1", 1);
	healths[0] = GW_HEALTH_UP;
	gw_monitor_configure(monitor, &models[0].config);
	run_for(100);
	CU_ASSERT_EQUAL(changes, 0);
	uv_close((uv_handle_t *)&listener, NULL);
	run_until(1);
	CU_ASSERT_EQUAL(healths[0], GW_HEALTH_DOWN);
	CU_ASSERT_STRING_EQUAL(last_cause, "connection refused, 3 of 3");
	end();
}

static void a_backend_presumed_healthy_is_judged_by_one_probe(void)
{
	begin();
	is_presumed = true;
	model_make(&models[0], "127.0.0.2", 2);
	gw_monitor_configure(monitor, &models[0].config);
	run_until(2);
	/* The loop may have run on for another probe since. */
	CU_ASSERT_EQUAL(failures_at_down, 1);
	end();
}

static void a_new_configuration_keeps_what_is_known(void)
{
	begin();
	model_make(&models[0], "127.0.0.2", 2);
	gw_monitor_configure(monitor, &models[0].config);
	run_until(2);
	for (int i = 1; i <= 6; i++) {
		struct model *next = &models[i % 2];

		model_make(next, "127.0.0.2", 2);
		CU_ASSERT_EQUAL(gw_monitor_configure(monitor, &next->config), 0);
		run_for(15);
	}
	CU_ASSERT_EQUAL(changes, 2);
	end();
}

static void reloads_faster_than_the_interval_do_not_stop_detection(void)
{
	begin();
	model_make(&models[0], "127.0.0.2", 2);
	models[0].pool.check.interval_ms = 40;
	healths[0] = healths[1] = GW_HEALTH_UP;
	gw_monitor_configure(monitor, &models[0].config);
	for (int i = 1; i <= 1000 && healths[1] == GW_HEALTH_UP; i++) {
		struct model *next = &models[i % 2];

		model_make(next, "127.0.0.2", 2);
		next->pool.check.interval_ms = 40;
		gw_monitor_configure(monitor, &next->config);
		run_for(10);
	}
	CU_ASSERT_EQUAL(healths[1], GW_HEALTH_DOWN);
	CU_ASSERT_EQUAL(healths[0], GW_HEALTH_UP);
	end();
}

static void a_changed_address_is_another_machine(void)
{
	begin();
	model_make(&models[0], "127.0.0.1", 2);
	healths[0] = healths[1] = GW_HEALTH_UP;
	gw_monitor_configure(monitor, &models[0].config);
	run_for(60);
	CU_ASSERT_EQUAL(changes, 0);
	model_make(&models[1], "127.0.0.2", 2);
	gw_monitor_configure(monitor, &models[1].config);
	CU_ASSERT_EQUAL(changes, 1);
	CU_ASSERT_EQUAL(healths[1], GW_HEALTH_UNKNOWN);
	run_until(2);
	CU_ASSERT_EQUAL(healths[1], GW_HEALTH_DOWN);
	end();
}

static void a_backend_that_left_is_probed_no_more(void)
{
	begin();
	model_make(&models[0], "127.0.0.2", 2);
	gw_monitor_configure(monitor, &models[0].config);
	run_until(2);
	model_make(&models[1], "127.0.0.2", 1);
	gw_monitor_configure(monitor, &models[1].config);
	failures = 0;
	run_for(120);
	CU_ASSERT_EQUAL(failures, 0);
	end();
}

static void a_pool_without_check_is_left_alone(void)
{
	begin();
	model_make(&models[0], "127.0.0.2", 2);
	models[0].pool.check.type = GW_CONFIG_CHECK_NONE;
	gw_monitor_configure(monitor, &models[0].config);
	run_for(60);
	CU_ASSERT_EQUAL(changes + failures, 0);
	end();
}

static const struct gw_test tests[] = {
	GW_TEST(what_listens_is_up_and_what_refuses_is_down),
	GW_TEST(an_end_is_noticed_with_its_cause),
	GW_TEST(a_backend_presumed_healthy_is_judged_by_one_probe),
	GW_TEST(a_new_configuration_keeps_what_is_known),
	GW_TEST(reloads_faster_than_the_interval_do_not_stop_detection),
	GW_TEST(a_changed_address_is_another_machine),
	GW_TEST(a_backend_that_left_is_probed_no_more),
	GW_TEST(a_pool_without_check_is_left_alone),
};

GW_SUITE("monitor", tests)
