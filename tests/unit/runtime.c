/* SPDX-License-Identifier: BSD-2-Clause */
#include "control/runtime.h"

#include "control_fixture.h"

#include <jansson.h>

#include <errno.h>

#define POOL(options, backends)                                                                    \
	FIXTURE_NODE "pools:\n"                                                                    \
		     "  - name: web\n"                                                             \
		     "    drain_timeout: 5m\n"                                                     \
		     "    healthcheck: {type: tcp, port: 80}\n" options "    backends:\n" backends

#define B1 "      - {name: b1, address: 10.82.0.101}\n"
#define B2 "      - {name: b2, address: 10.82.0.102}\n"
#define B3 "      - {name: b3, address: 10.82.0.103}\n"

#define MINUTES(n) ((n)*60000)

struct bench {
	struct gw_runtime *runtime;
	struct gw_config *config;
	struct gw_effect effects[8];
	struct gw_pool_effect pool;
};

static void bench_open(struct bench *bench, const char *text)
{
	*bench = (struct bench){.runtime = gw_runtime_new(), .config = fixture_config(text)};
	CU_ASSERT_EQUAL_FATAL(gw_runtime_apply(bench->runtime, bench->config, 1000, NULL, NULL), 0);
}

static void bench_reload(struct bench *bench, const char *text, int64_t now_ms)
{
	gw_config_free(bench->config);
	bench->config = fixture_config(text);
	CU_ASSERT_EQUAL_FATAL(
		gw_runtime_apply(bench->runtime, bench->config, now_ms, NULL, NULL), 0);
}

static void bench_close(struct bench *bench)
{
	gw_runtime_free(bench->runtime);
	gw_config_free(bench->config);
}

static const struct gw_effect *effect(struct bench *bench, size_t i, int64_t now_ms)
{
	gw_runtime_pool(
		bench->runtime, &bench->config->pools[0], now_ms, bench->effects, &bench->pool);
	return &bench->effects[i];
}

static void all_up(struct bench *bench)
{
	for (size_t i = 0; i < bench->config->pools[0].backend_count; i++)
		gw_runtime_set_health(bench->runtime, "web",
			bench->config->pools[0].backends[i].name, GW_HEALTH_UP, NULL, 1000);
}

static void health(struct bench *bench, const char *name, enum gw_health value, int64_t now_ms)
{
	CU_ASSERT_EQUAL(gw_runtime_set_health(
				bench->runtime, "web", name, value, "connection refused", now_ms),
		1);
}

static void override_state(
	struct bench *bench, enum gw_config_backend_state state, int64_t now_ms, int expected)
{
	CU_ASSERT_EQUAL(gw_runtime_override_state(
				bench->runtime, "web", "b1", state, "ann", "test", now_ms),
		expected);
}

static void backends_of_a_new_pool_serve_until_a_check_says_otherwise(void)
{
	struct bench bench;

	bench_open(&bench, POOL("", B1 B2));
	CU_ASSERT_TRUE(effect(&bench, 0, 2000)->member);
	CU_ASSERT_EQUAL(effect(&bench, 0, 2000)->reason, GW_REASON_PRESUMED);
	health(&bench, "b1", GW_HEALTH_DOWN, 2000);
	CU_ASSERT_FALSE(effect(&bench, 0, 2000)->member);
	CU_ASSERT_EQUAL(effect(&bench, 0, 2000)->state, GW_BACKEND_DOWN);
	CU_ASSERT_TRUE(effect(&bench, 1, 2000)->member);
	bench_close(&bench);
}

static void backend_that_joins_a_known_pool_waits_for_its_first_success(void)
{
	struct bench bench;

	bench_open(&bench, POOL("", B1 B2));
	all_up(&bench);
	bench_reload(&bench, POOL("", B1 B2 B3), 2000);
	CU_ASSERT_FALSE(effect(&bench, 2, 2000)->member);
	CU_ASSERT_EQUAL(effect(&bench, 2, 2000)->reason, GW_REASON_WAITING);
	CU_ASSERT_TRUE(effect(&bench, 0, 2000)->member);
	health(&bench, "b3", GW_HEALTH_UP, 3000);
	CU_ASSERT_TRUE(effect(&bench, 2, 3000)->member);
	bench_close(&bench);
}

static void health_belongs_to_the_address(void)
{
	struct bench bench;

	bench_open(&bench, POOL("", B1 B2));
	all_up(&bench);
	bench_reload(&bench, POOL("", "      - {name: b1, address: 10.82.0.201}\n" B2), 2000);
	CU_ASSERT_EQUAL(effect(&bench, 0, 2000)->reason, GW_REASON_WAITING);
	CU_ASSERT_FALSE(effect(&bench, 0, 2000)->member);
	bench_close(&bench);
}

static void pool_without_check_is_healthy_and_stays_so_when_a_check_comes(void)
{
	static const char unchecked[] = FIXTURE_NODE "pools:\n"
						     "  - name: web\n"
						     "    healthcheck: {type: none}\n"
						     "    backends:\n" B1 B2;
	struct bench bench;

	bench_open(&bench, unchecked);
	CU_ASSERT_EQUAL(effect(&bench, 0, 2000)->reason, GW_REASON_UNCHECKED);
	CU_ASSERT_TRUE(effect(&bench, 0, 2000)->member);
	bench_reload(&bench, POOL("", B1 B2), 3000);
	CU_ASSERT_TRUE(effect(&bench, 0, 3000)->member);
	bench_close(&bench);
}

static void override_lasts_until_the_files_own_value_changes(void)
{
	struct bench bench;

	bench_open(&bench, POOL("", B1 B2));
	all_up(&bench);
	override_state(&bench, GW_CONFIG_DRAIN, 2000, 1);
	override_state(&bench, GW_CONFIG_DRAIN, 2500, 0);
	/* A reload that changes something else. */
	bench_reload(&bench, POOL("    table_size: 1021\n", B1 B2 B3), 3000);
	CU_ASSERT_EQUAL(effect(&bench, 0, 3000)->state, GW_BACKEND_DRAIN);
	CU_ASSERT_EQUAL(effect(&bench, 0, 3000)->reason, GW_REASON_OVERRIDE_DRAIN);
	/* The file's weight is not its state. */
	bench_reload(
		&bench, POOL("", "      - {name: b1, address: 10.82.0.101, weight: 2}\n" B2), 4000);
	CU_ASSERT_EQUAL(effect(&bench, 0, 4000)->state, GW_BACKEND_DRAIN);
	bench_reload(&bench,
		POOL("", "      - {name: b1, address: 10.82.0.101, state: disabled}\n" B2), 5000);
	CU_ASSERT_EQUAL(effect(&bench, 0, 5000)->state, GW_BACKEND_DISABLED);
	bench_reload(&bench, POOL("", B1 B2), 6000);
	CU_ASSERT_EQUAL(effect(&bench, 0, 6000)->state, GW_BACKEND_ACTIVE);
	CU_ASSERT_TRUE(effect(&bench, 0, 6000)->member);
	bench_close(&bench);
}

static void count_ended(void *owner, const struct gw_runtime_backend *backend)
{
	int *count = owner;

	CU_ASSERT_STRING_EQUAL(backend->name, "b1");
	CU_ASSERT_STRING_EQUAL(backend->override.who, "ann");
	++*count;
}

static void weight_override_ends_with_the_files_weight_and_is_told(void)
{
	struct gw_config *config;
	struct bench bench;
	int ended = 0;

	bench_open(&bench, POOL("", B1 B2));
	all_up(&bench);
	CU_ASSERT_EQUAL(
		gw_runtime_override_weight(bench.runtime, "web", "b1", 7, "ann", "slow", 2000), 1);
	CU_ASSERT_EQUAL(effect(&bench, 0, 2000)->weight, 7);
	config = fixture_config(
		POOL("", "      - {name: b1, address: 10.82.0.101, weight: 3}\n" B2));
	CU_ASSERT_EQUAL(gw_runtime_apply(bench.runtime, config, 3000, count_ended, &ended), 0);
	gw_config_free(config);
	CU_ASSERT_EQUAL(ended, 1);
	CU_ASSERT_FALSE(gw_runtime_find(bench.runtime, "web", "b1")->override.has_weight);
	CU_ASSERT_EQUAL(effect(&bench, 0, 3000)->weight, 3);
	bench_close(&bench);
}

static void value_equal_to_the_files_ends_the_override(void)
{
	struct bench bench;

	bench_open(&bench, POOL("", B1 B2));
	all_up(&bench);
	override_state(&bench, GW_CONFIG_DISABLED, 2000, 1);
	gw_runtime_override_weight(bench.runtime, "web", "b1", 5, "bob", "", 2000);
	override_state(&bench, GW_CONFIG_ACTIVE, 3000, 1);
	CU_ASSERT_FALSE(gw_runtime_find(bench.runtime, "web", "b1")->override.has_state);
	CU_ASSERT_TRUE(gw_runtime_find(bench.runtime, "web", "b1")->override.has_weight);
	CU_ASSERT_STRING_EQUAL(gw_runtime_find(bench.runtime, "web", "b1")->override.who, "bob");
	CU_ASSERT_EQUAL(gw_runtime_override_clear(bench.runtime, "web", "b1", 4000), 1);
	CU_ASSERT_EQUAL(gw_runtime_override_clear(bench.runtime, "web", "b1", 4000), 0);
	CU_ASSERT_EQUAL(effect(&bench, 0, 4000)->weight, 1);
	CU_ASSERT_EQUAL(gw_runtime_override_clear(bench.runtime, "web", "b7", 4000), -ENOENT);
	bench_close(&bench);
}

static void enable_overrides_a_file_that_drains(void)
{
	struct bench bench;

	bench_open(&bench, POOL("", "      - {name: b1, address: 10.82.0.101, state: drain}\n" B2));
	all_up(&bench);
	CU_ASSERT_EQUAL(effect(&bench, 0, 2000)->reason, GW_REASON_FILE_DRAIN);
	override_state(&bench, GW_CONFIG_ACTIVE, 2000, 1);
	CU_ASSERT_TRUE(effect(&bench, 0, 2000)->member);
	CU_ASSERT_EQUAL(effect(&bench, 0, 1000 + MINUTES(6))->state, GW_BACKEND_ACTIVE);
	bench_close(&bench);
}

static void drain_becomes_disabled_when_its_time_is_over(void)
{
	struct bench bench;

	bench_open(&bench, POOL("", B1 B2));
	all_up(&bench);
	override_state(&bench, GW_CONFIG_DRAIN, 2000, 1);
	CU_ASSERT_EQUAL(gw_runtime_next_deadline(bench.runtime, 2000), 2000 + MINUTES(5));
	CU_ASSERT_EQUAL(effect(&bench, 0, 1999 + MINUTES(5))->state, GW_BACKEND_DRAIN);
	CU_ASSERT_EQUAL(effect(&bench, 0, 1999 + MINUTES(5))->drain_until_ms, 2000 + MINUTES(5));
	CU_ASSERT_FALSE(effect(&bench, 0, 1999 + MINUTES(5))->member);
	CU_ASSERT_EQUAL(effect(&bench, 0, 2000 + MINUTES(5))->state, GW_BACKEND_DISABLED);
	CU_ASSERT_EQUAL(effect(&bench, 0, 2000 + MINUTES(5))->reason, GW_REASON_DRAIN_OVER);
	CU_ASSERT_EQUAL(gw_runtime_next_deadline(bench.runtime, 2000 + MINUTES(5)), 0);
	/* Enabled and drained again, the time starts anew. */
	override_state(&bench, GW_CONFIG_ACTIVE, MINUTES(10), 1);
	override_state(&bench, GW_CONFIG_DRAIN, MINUTES(11), 1);
	CU_ASSERT_EQUAL(effect(&bench, 0, MINUTES(12))->state, GW_BACKEND_DRAIN);
	bench_close(&bench);
}

static void draining_backend_that_is_down_counts_as_down(void)
{
	struct bench bench;

	bench_open(&bench, POOL("", B1 B2));
	all_up(&bench);
	override_state(&bench, GW_CONFIG_DRAIN, 2000, 1);
	health(&bench, "b1", GW_HEALTH_DOWN, 3000);
	CU_ASSERT_EQUAL(effect(&bench, 0, 3000)->state, GW_BACKEND_DOWN);
	CU_ASSERT_STRING_EQUAL(
		gw_runtime_find(bench.runtime, "web", "b1")->last_failure, "connection refused");
	bench_close(&bench);
}

static void weight_zero_keeps_flows_and_takes_no_new_ones(void)
{
	struct bench bench;

	bench_open(&bench, POOL("", "      - {name: b1, address: 10.82.0.101, weight: 0}\n" B2));
	all_up(&bench);
	CU_ASSERT_EQUAL(effect(&bench, 0, 2000)->state, GW_BACKEND_ACTIVE);
	CU_ASSERT_FALSE(effect(&bench, 0, 2000)->member);
	CU_ASSERT_EQUAL(effect(&bench, 0, 2000)->reason, GW_REASON_WEIGHT_ZERO);
	CU_ASSERT_EQUAL(bench.pool.members, 1);
	bench_close(&bench);
}

/* panic_below 50%: one healthy of three is 33 %, two are 67 %; disabled ones do not count. */
static void too_few_healthy_bring_all_but_the_disabled_in(void)
{
	struct bench bench;

	bench_open(&bench, POOL("    panic_below: 50%\n", B1 B2 B3
				   "      - {name: b4, address: 10.82.0.104, state: disabled}\n"));
	all_up(&bench);
	health(&bench, "b1", GW_HEALTH_DOWN, 2000);
	CU_ASSERT_FALSE(effect(&bench, 0, 2000)->member);
	CU_ASSERT_FALSE(bench.pool.panic);
	health(&bench, "b2", GW_HEALTH_DOWN, 3000);
	CU_ASSERT_TRUE(effect(&bench, 0, 3000)->member);
	CU_ASSERT_TRUE(bench.pool.panic);
	CU_ASSERT_EQUAL(bench.effects[0].state, GW_BACKEND_ACTIVE);
	CU_ASSERT_EQUAL(bench.effects[0].reason, GW_REASON_PANIC);
	CU_ASSERT_TRUE(bench.effects[1].member);
	CU_ASSERT_EQUAL(bench.effects[2].reason, GW_REASON_HEALTHY);
	CU_ASSERT_FALSE(bench.effects[3].member);
	CU_ASSERT_EQUAL(bench.effects[3].state, GW_BACKEND_DISABLED);
	CU_ASSERT_EQUAL(bench.pool.members, 3);
	bench_close(&bench);
}

static void share_at_the_limit_is_no_panic(void)
{
	struct bench bench;

	bench_open(&bench, POOL("    panic_below: 50%\n", B1 B2));
	all_up(&bench);
	health(&bench, "b1", GW_HEALTH_DOWN, 2000);
	effect(&bench, 0, 2000);
	CU_ASSERT_FALSE(bench.pool.panic);
	CU_ASSERT_EQUAL(bench.pool.members, 1);
	bench_close(&bench);
}

static void everything_survives_the_state_file(void)
{
	struct gw_runtime *again = gw_runtime_new();
	const struct gw_runtime_backend *backend;
	struct bench bench;
	json_t *json;

	bench_open(&bench, POOL("", B1 B2));
	all_up(&bench);
	health(&bench, "b2", GW_HEALTH_DOWN, 2000);
	override_state(&bench, GW_CONFIG_DRAIN, 3000, 1);
	json = gw_runtime_dump(bench.runtime);
	CU_ASSERT_EQUAL(gw_runtime_load(again, json), 0);
	CU_ASSERT_EQUAL(gw_runtime_apply(again, bench.config, MINUTES(1), NULL, NULL), 0);
	gw_runtime_free(bench.runtime);
	bench.runtime = again;
	backend = gw_runtime_find(again, "web", "b1");
	CU_ASSERT_STRING_EQUAL(backend->override.who, "ann");
	CU_ASSERT_STRING_EQUAL(backend->override.why, "test");
	CU_ASSERT_EQUAL(backend->override.since_ms, 3000);
	CU_ASSERT_EQUAL(effect(&bench, 0, MINUTES(1))->state, GW_BACKEND_DRAIN);
	CU_ASSERT_EQUAL(effect(&bench, 0, 3000 + MINUTES(5))->state, GW_BACKEND_DISABLED);
	CU_ASSERT_EQUAL(effect(&bench, 1, MINUTES(1))->state, GW_BACKEND_DOWN);
	json_decref(json);
	json = json_loads("[{\"pool\":\"web\"}]", 0, NULL);
	CU_ASSERT_EQUAL(gw_runtime_load(again, json), -EINVAL);
	CU_ASSERT_EQUAL(gw_runtime_count(again), 2);
	json_decref(json);
	bench_close(&bench);
}

/* As gw_daemon_take does it: what left joins before the configuration is applied. */
static int leave(struct bench *bench, const char *text, int64_t now_ms)
{
	int joined;

	gw_config_free(bench->config);
	bench->config = fixture_config(text);
	joined = gw_config_keep_leavers(bench->config, bench->runtime, now_ms);
	CU_ASSERT_EQUAL_FATAL(
		gw_runtime_apply(bench->runtime, bench->config, now_ms, NULL, NULL), 0);
	return joined;
}

static void removed_backends_drain_until_their_deadline(void)
{
	struct bench bench;
	const struct gw_effect *gone;

	bench_open(&bench, POOL("", B1 B2 B3));
	all_up(&bench);
	CU_ASSERT_EQUAL(leave(&bench, POOL("", B1 B3), 2000), 1);
	CU_ASSERT_EQUAL_FATAL(bench.config->pools[0].backend_count, 3);
	gone = effect(&bench, 2, 2000);
	CU_ASSERT_STRING_EQUAL(bench.config->pools[0].backends[2].name, "b2");
	CU_ASSERT_PTR_EQUAL(gw_config_backend_find(&bench.config->pools[0], "b2"),
		&bench.config->pools[0].backends[2]);
	CU_ASSERT_EQUAL(gone->state, GW_BACKEND_DRAIN);
	CU_ASSERT_EQUAL(gone->reason, GW_REASON_REMOVED);
	CU_ASSERT_FALSE(gone->member);
	CU_ASSERT_EQUAL(gone->drain_until_ms, 2000 + MINUTES(5));
	CU_ASSERT_EQUAL(bench.pool.not_disabled, 2);
	CU_ASSERT_EQUAL(gw_runtime_override_state(
				bench.runtime, "web", "b2", GW_CONFIG_ACTIVE, "", "", 2000),
		-ENOENT);
	/* another reload, and a restart from the state file, change nothing about it */
	CU_ASSERT_EQUAL(leave(&bench, POOL("", B1 B3), 60000), 1);
	CU_ASSERT_EQUAL(effect(&bench, 2, 60000)->drain_until_ms, 2000 + MINUTES(5));
	CU_ASSERT_FALSE(gw_runtime_leavers_over(bench.runtime, 1999 + MINUTES(5)));
	CU_ASSERT_TRUE(gw_runtime_leavers_over(bench.runtime, 2000 + MINUTES(5)));
	CU_ASSERT_EQUAL(leave(&bench, POOL("", B1 B3), 2000 + MINUTES(5)), 0);
	CU_ASSERT_EQUAL(gw_runtime_count(bench.runtime), 2);
	bench_close(&bench);
}

static void removed_backends_with_nothing_to_drain_go_at_once(void)
{
	struct bench bench;

	bench_open(&bench, POOL("", B1 B2 B3));
	all_up(&bench);
	gw_runtime_set_health(bench.runtime, "web", "b2", GW_HEALTH_DOWN, "tcp: refused", 1500);
	gw_runtime_override_state(bench.runtime, "web", "b3", GW_CONFIG_DISABLED, "root", "", 1500);
	CU_ASSERT_EQUAL(leave(&bench, POOL("", B1), 2000), 0);
	CU_ASSERT_EQUAL(gw_runtime_count(bench.runtime), 1);
	bench_close(&bench);
}

static void a_removed_backend_that_returns_is_what_it_was(void)
{
	struct bench bench;

	bench_open(&bench, POOL("", B1 B2 B3));
	all_up(&bench);
	leave(&bench, POOL("", B1 B3), 2000);
	CU_ASSERT_EQUAL(leave(&bench, POOL("", B1 B2 B3), 3000), 0);
	CU_ASSERT_EQUAL(effect(&bench, 1, 3000)->state, GW_BACKEND_ACTIVE);
	CU_ASSERT_TRUE(effect(&bench, 1, 3000)->member);
	CU_ASSERT_EQUAL(effect(&bench, 1, 3000)->drain_until_ms, 0);
	bench_close(&bench);
}

static void an_override_with_a_time_ends_by_itself_and_survives_a_restart(void)
{
	struct gw_runtime *again = gw_runtime_new();
	struct bench bench;
	json_t *dump;

	bench_open(&bench, POOL("", B1 B2 B3));
	all_up(&bench);
	CU_ASSERT_EQUAL(gw_runtime_override_until(bench.runtime, "web", "b1", 9000), 0);
	gw_runtime_override_weight(bench.runtime, "web", "b1", 7, "root", "", 2000);
	CU_ASSERT_EQUAL(gw_runtime_override_until(bench.runtime, "web", "b1", 9000), 1);
	CU_ASSERT_EQUAL(gw_runtime_next_deadline(bench.runtime, 2000), 9000);
	dump = gw_runtime_dump(bench.runtime);
	CU_ASSERT_EQUAL_FATAL(gw_runtime_load(again, dump), 0);
	CU_ASSERT_EQUAL(gw_runtime_find(again, "web", "b1")->override.until_ms, 9000);
	CU_ASSERT_EQUAL(gw_runtime_expire(bench.runtime, 8999, NULL, NULL), 0);
	CU_ASSERT_EQUAL(effect(&bench, 0, 8999)->base_weight, 7);
	CU_ASSERT_EQUAL(gw_runtime_expire(bench.runtime, 9000, NULL, NULL), 1);
	CU_ASSERT_EQUAL(effect(&bench, 0, 9000)->base_weight, 1);
	json_decref(dump);
	gw_runtime_free(again);
	bench_close(&bench);
}

static const struct gw_test tests[] = {
	GW_TEST(removed_backends_drain_until_their_deadline),
	GW_TEST(removed_backends_with_nothing_to_drain_go_at_once),
	GW_TEST(a_removed_backend_that_returns_is_what_it_was),
	GW_TEST(an_override_with_a_time_ends_by_itself_and_survives_a_restart),
	GW_TEST(backends_of_a_new_pool_serve_until_a_check_says_otherwise),
	GW_TEST(backend_that_joins_a_known_pool_waits_for_its_first_success),
	GW_TEST(health_belongs_to_the_address),
	GW_TEST(pool_without_check_is_healthy_and_stays_so_when_a_check_comes),
	GW_TEST(override_lasts_until_the_files_own_value_changes),
	GW_TEST(weight_override_ends_with_the_files_weight_and_is_told),
	GW_TEST(value_equal_to_the_files_ends_the_override),
	GW_TEST(enable_overrides_a_file_that_drains),
	GW_TEST(drain_becomes_disabled_when_its_time_is_over),
	GW_TEST(draining_backend_that_is_down_counts_as_down),
	GW_TEST(weight_zero_keeps_flows_and_takes_no_new_ones),
	GW_TEST(too_few_healthy_bring_all_but_the_disabled_in),
	GW_TEST(share_at_the_limit_is_no_panic),
	GW_TEST(everything_survives_the_state_file),
};

GW_SUITE("runtime", tests)
