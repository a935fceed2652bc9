/* SPDX-License-Identifier: BSD-2-Clause */
/* How backends come back: damping, the limit on entering, slow start; pools in parts. */
#include "control/builder.h"
#include "control/config.h"
#include "control/config_expand.h"
#include "control/runtime.h"
#include "control_fixture.h"

#include <jansson.h>

#define POOL(options)                                                                              \
	FIXTURE_NODE "pools:\n"                                                                    \
		     "  - name: web\n"                                                             \
		     "    healthcheck: {type: tcp, port: 80}\n" options "    backends:\n"          \
		     "      - {name: b1, address: 10.82.0.101}\n"                                  \
		     "      - {name: b2, address: 10.82.0.102}\n"                                  \
		     "      - {name: b3, address: 10.82.0.103}\n"                                  \
		     "      - {name: b4, address: 10.82.0.104}\n"

#define DAMPING "    damping: {after: 2, window: 60s, hold: 10s, hold_max: 30s}\n"
#define LIMIT	"    damping: off\n    enter_limit: {count: 2, per: 10s}\n"
#define SLOW	"    damping: off\n    slow_start: {duration: 10s, from: 20%, steps: 4}\n"

#define T 1000000 /* a moment long after the start */

static struct gw_runtime *runtime;
static struct gw_config *config;
static struct gw_effect effects[8];
static struct gw_pool_effect pool;

/* All four backends up, in service since long. */
static void begin(const char *text)
{
	runtime = gw_runtime_new();
	config = fixture_config(text);
	CU_ASSERT_EQUAL_FATAL(gw_runtime_apply(runtime, config, 1000, NULL, NULL), 0);
	gw_runtime_advance(runtime, 1000);
	for (size_t i = 0; i < config->pools[0].backend_count; i++)
		gw_runtime_set_health(runtime, "web", config->pools[0].backends[i].name,
			GW_HEALTH_UP, NULL, 1000);
	gw_runtime_advance(runtime, 2000);
}

static void end(void)
{
	gw_runtime_free(runtime);
	gw_config_free(config);
}

static void set(const char *name, enum gw_health health, int64_t now_ms)
{
	gw_runtime_set_health(runtime, "web", name, health, "refused", now_ms);
}

/* As a build does: the rules at this moment, then what they make of backend i. */
static const struct gw_effect *at(int64_t now_ms, size_t i)
{
	gw_runtime_advance(runtime, now_ms);
	gw_runtime_pool(runtime, &config->pools[0], now_ms, effects, &pool);
	return &effects[i];
}

/* Down at the moment, up a second later. */
static int64_t flip(const char *name, int64_t now_ms)
{
	set(name, GW_HEALTH_DOWN, now_ms);
	set(name, GW_HEALTH_UP, now_ms + 1000);
	return now_ms + 2000;
}

static void first_flips_are_free_and_later_ones_hold_for_longer(void)
{
	/* Free, free, then 10 s, 20 s, and no more than 30 s, from going down on. */
	static const int64_t holds[] = {0, 0, 10000, 20000, 30000, 30000};
	int64_t now = T;

	begin(POOL(DAMPING));
	for (size_t i = 0; i < sizeof(holds) / sizeof(holds[0]); i++) {
		int64_t down = now;

		flip("b1", now);
		if (!holds[i]) {
			CU_ASSERT_TRUE(at(down + 1500, 0)->member);
			now = down + 5000;
			continue;
		}
		CU_ASSERT_EQUAL(at(down + 1500, 0)->reason, GW_REASON_HELD);
		CU_ASSERT_EQUAL(at(down + 1500, 0)->state, GW_BACKEND_DOWN);
		CU_ASSERT_EQUAL(at(down + 1500, 0)->health, GW_HEALTH_UP);
		CU_ASSERT_EQUAL(at(down + 1500, 0)->held_until_ms, down + holds[i]);
		CU_ASSERT_EQUAL(gw_runtime_next_deadline(runtime, down + 1500), down + holds[i]);
		CU_ASSERT_FALSE(at(down + holds[i] - 1, 0)->member);
		CU_ASSERT_TRUE(at(down + holds[i], 0)->member);
		now = down + holds[i] + 1000;
	}
	CU_ASSERT_TRUE(at(now, 1)->member); /* the others notice nothing */
	end();
}

static void staying_up_in_service_forgives(void)
{
	int64_t now = T;

	begin(POOL(DAMPING));
	for (int i = 0; i < 3; i++)
		now = flip("b1", now);
	CU_ASSERT_EQUAL(at(now, 0)->reason, GW_REASON_HELD);
	/* The hold is no time in service: 59 s after its end the next flip still counts on. */
	now = T + 4000 + 10000 + 59000;
	flip("b1", now);
	CU_ASSERT_EQUAL(at(now + 1500, 0)->held_until_ms, now + 20000);
	now += 20000 + 60000;
	flip("b1", now);
	CU_ASSERT_TRUE(at(now + 1500, 0)->member);
	CU_ASSERT_EQUAL(gw_runtime_find(runtime, "web", "b1")->flips, 1);
	end();
}

static void enabling_by_hand_ends_a_hold(void)
{
	int64_t now = T;

	begin(POOL(DAMPING));
	for (int i = 0; i < 3; i++)
		now = flip("b1", now);
	CU_ASSERT_FALSE(at(now, 0)->member);
	CU_ASSERT_EQUAL(
		gw_runtime_override_state(runtime, "web", "b1", GW_CONFIG_ACTIVE, "ann", "", now),
		1);
	CU_ASSERT_TRUE(at(now, 0)->member);
	end();
}

static void a_held_backend_is_not_healthy_for_panic(void)
{
	int64_t now = T;

	begin(POOL(DAMPING "    panic_below: 100%\n"));
	for (int i = 0; i < 3; i++)
		now = flip("b1", now);
	at(now, 0);
	CU_ASSERT_EQUAL(pool.healthy, 3);
	CU_ASSERT_TRUE(pool.panic);
	CU_ASSERT_EQUAL(effects[0].reason, GW_REASON_PANIC);
	CU_ASSERT_TRUE(effects[0].member);
	end();
}

static void damping_survives_a_reload_and_a_restart(void)
{
	struct gw_runtime *loaded = gw_runtime_new();
	int64_t now = T;
	json_t *dump;

	begin(POOL(DAMPING));
	for (int i = 0; i < 3; i++)
		now = flip("b1", now);
	CU_ASSERT_EQUAL(gw_runtime_apply(runtime, config, now, NULL, NULL), 0);
	CU_ASSERT_EQUAL(at(now, 0)->reason, GW_REASON_HELD);
	dump = gw_runtime_dump(runtime);
	CU_ASSERT_EQUAL_FATAL(gw_runtime_load(loaded, dump), 0);
	json_decref(dump);
	gw_runtime_free(runtime);
	runtime = loaded;
	CU_ASSERT_EQUAL(gw_runtime_apply(runtime, config, now, NULL, NULL), 0);
	CU_ASSERT_EQUAL(at(now, 0)->reason, GW_REASON_HELD);
	CU_ASSERT_EQUAL(gw_runtime_find(runtime, "web", "b1")->flips, 3);
	end();
}

static void a_clock_set_back_holds_nobody_for_ever(void)
{
	int64_t now = T;

	begin(POOL(DAMPING));
	for (int i = 0; i < 3; i++)
		now = flip("b1", now);
	CU_ASSERT_FALSE(at(500, 0)->member);
	CU_ASSERT_TRUE(at(500 + 30000, 0)->member);
	end();
}

static void no_more_than_the_limit_enter_within_its_time(void)
{
	begin(POOL(LIMIT));
	for (const char *const *name = (const char *const[]){"b1", "b2", "b3", "b4", NULL}; *name;
		name++)
		set(*name, GW_HEALTH_DOWN, T);
	CU_ASSERT_EQUAL(at(T, 0)->member + effects[1].member + effects[2].member, 0);
	/* In the order in which they became healthy, not of their names. */
	set("b4", GW_HEALTH_UP, T + 1);
	set("b2", GW_HEALTH_UP, T + 2);
	set("b1", GW_HEALTH_UP, T + 3);
	set("b3", GW_HEALTH_UP, T + 4);
	at(T + 10, 0);
	CU_ASSERT_EQUAL(pool.members, 2);
	CU_ASSERT_TRUE(effects[3].member && effects[1].member);
	CU_ASSERT_EQUAL(effects[0].reason, GW_REASON_QUEUED);
	CU_ASSERT_EQUAL(effects[0].state, GW_BACKEND_ACTIVE); /* tracked flows may stay */
	CU_ASSERT_EQUAL(gw_runtime_next_deadline(runtime, T + 10), T + 10 + 10000);
	at(T + 10 + 9999, 0);
	CU_ASSERT_EQUAL(pool.members, 2);
	at(T + 10 + 10000, 0);
	CU_ASSERT_EQUAL(pool.members, 4);
	end();
}

static void leaving_is_never_delayed_by_the_limit(void)
{
	begin(POOL(LIMIT));
	set("b1", GW_HEALTH_DOWN, T);
	set("b2", GW_HEALTH_DOWN, T);
	set("b3", GW_HEALTH_DOWN, T);
	at(T, 0);
	CU_ASSERT_EQUAL(pool.members, 1);
	end();
}

static void down_and_up_between_two_builds_is_as_if_nothing_had_been(void)
{
	begin(POOL("    damping: off\n    enter_limit: {count: 1, per: 10s}\n"
		   "    slow_start: {duration: 10s}\n"));
	CU_ASSERT_EQUAL(at(T, 0)->weight, 1);
	flip("b1", T);
	flip("b2", T);
	at(T + 1001, 0);
	CU_ASSERT_EQUAL(pool.members, 4);
	CU_ASSERT_EQUAL(pool.scale, 1);
	end();
}

static void a_new_pool_starts_whole_and_at_full_weight(void)
{
	runtime = gw_runtime_new();
	config = fixture_config(POOL("    enter_limit: {count: 1, per: 10s}\n"
				     "    slow_start: {duration: 10s}\n"));
	CU_ASSERT_EQUAL_FATAL(gw_runtime_apply(runtime, config, T, NULL, NULL), 0);
	at(T, 0);
	CU_ASSERT_EQUAL(pool.members, 4);
	CU_ASSERT_EQUAL(pool.scale, 1);
	end();
}

static void weight_rises_in_equal_steps_to_the_full(void)
{
	/* From 20 % in four steps within 10 s: one step of 20 points every 2.5 s. */
	static const struct {
		int64_t after;
		uint8_t ramp;
	} steps[] = {
		{0, 20}, {2499, 20}, {2500, 40}, {5000, 60}, {7500, 80}, {9999, 80}, {10000, 100}};

	begin(POOL(SLOW));
	set("b1", GW_HEALTH_DOWN, T);
	at(T, 0);
	set("b1", GW_HEALTH_UP, T + 100);
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		const struct gw_effect *effect = at(T + 100 + steps[i].after, 0);
		bool rising = steps[i].ramp < 100;

		CU_ASSERT_EQUAL(effect->ramp, steps[i].ramp);
		CU_ASSERT_EQUAL(pool.scale, rising ? 100 : 1);
		CU_ASSERT_EQUAL(effect->weight, rising ? steps[i].ramp : 1);
		CU_ASSERT_EQUAL(effects[1].weight, rising ? 100 : 1);
		CU_ASSERT_EQUAL(effect->reason, rising ? GW_REASON_SLOW_START : GW_REASON_HEALTHY);
		if (rising)
			CU_ASSERT_EQUAL(gw_runtime_next_deadline(runtime, T + 100 + steps[i].after),
				T + 100 + (steps[i].after / 2500 + 1) * 2500);
	}
	CU_ASSERT_EQUAL(gw_runtime_next_deadline(runtime, T + 100 + 10000), 0);
	end();
}

static void a_rising_member_that_fails_leaves_at_once(void)
{
	begin(POOL(SLOW));
	set("b1", GW_HEALTH_DOWN, T);
	at(T, 0);
	set("b1", GW_HEALTH_UP, T + 100);
	CU_ASSERT_TRUE(at(T + 100, 0)->member);
	set("b1", GW_HEALTH_DOWN, T + 200);
	CU_ASSERT_FALSE(at(T + 200, 0)->member);
	CU_ASSERT_EQUAL(pool.scale, 1);
	end();
}

/* Tables of a build at this moment; the caller frees it. */
static struct gw_build *build_at(int64_t now_ms, struct gw_ids *ids, struct gw_build *previous)
{
	static uint64_t version;
	char error[GW_BUILD_ERROR];
	struct gw_build *build = NULL;
	struct gw_build_input input = {.config = config,
		.runtime = runtime,
		.ids = ids,
		.previous = previous,
		.version = ++version,
		.now_ms = now_ms};

	gw_runtime_advance(runtime, now_ms);
	CU_ASSERT_EQUAL_FATAL(gw_build_make(&input, &build, error), 0);
	return build;
}

static void hundredths_change_no_table_but_by_the_one_that_rises(void)
{
	struct gw_ids *ids = gw_ids_new();
	struct gw_build *full, *rising, *after;

	begin(POOL(SLOW));
	CU_ASSERT_EQUAL_FATAL(gw_ids_assign(ids, config, 0, NULL), 0);
	full = build_at(T, ids, NULL);
	set("b1", GW_HEALTH_DOWN, T);
	gw_build_free(build_at(T, ids, full));
	set("b1", GW_HEALTH_UP, T + 100);
	rising = build_at(T + 100, ids, full);
	/* 20 of 320 hundredths of 65537 slots, and the others share the rest evenly. */
	CU_ASSERT_TRUE(abs((int)rising->pools[0].backends[0].slots - 65537 * 20 / 320) <= 2);
	CU_ASSERT_TRUE(abs((int)rising->pools[0].backends[1].slots - 65537 * 100 / 320) <= 2);
	CU_ASSERT_TRUE(rising->pools[0].table_version > full->pools[0].table_version);
	after = build_at(T + 100 + 10000, ids, rising);
	CU_ASSERT_EQUAL(memcmp(&after->pools[0].digest, &full->pools[0].digest, 16), 0);
	gw_build_free(full);
	gw_build_free(rising);
	gw_build_free(after);
	gw_ids_free(ids);
	end();
}

static void initial_says_how_a_newcomer_begins(void)
{
	static const struct {
		const char *check;
		enum gw_reason first, joining;
	} cases[] = {
		{"{type: tcp, port: 80}", GW_REASON_PRESUMED, GW_REASON_WAITING},
		{"{type: tcp, port: 80, initial: up}", GW_REASON_PRESUMED, GW_REASON_PRESUMED},
		{"{type: tcp, port: 80, initial: down}", GW_REASON_WAITING, GW_REASON_WAITING},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[1024];

		runtime = gw_runtime_new();
		for (int backends = 1; backends <= 2; backends++) {
			snprintf(text, sizeof(text),
				FIXTURE_NODE "pools:\n  - name: web\n    healthcheck: %s\n"
					     "    backends:\n"
					     "      - {name: b1, address: 10.82.0.101}\n%s",
				cases[i].check,
				backends == 2 ? "      - {name: b2, address: 10.82.0.102}\n" : "");
			config = fixture_config(text);
			CU_ASSERT_EQUAL_FATAL(gw_runtime_apply(runtime, config, T, NULL, NULL), 0);
			CU_ASSERT_EQUAL(at(T, 0)->reason, cases[i].first);
			if (backends == 2)
				CU_ASSERT_EQUAL(effects[1].reason, cases[i].joining);
			if (backends == 1)
				gw_config_free(config);
		}
		end();
	}
}

/* Pools in parts. */

#define TUNNEL(check)                                                                              \
	FIXTURE_NODE "pools:\n"                                                                    \
		     "  - name: web\n"                                                             \
		     "    healthcheck: {type: tcp, port: 80" check "}\n"                           \
		     "    backends:\n"                                                             \
		     "      - {name: b1, address: 10.82.0.101}\n"                                  \
		     "      - {name: b2, address: 10.82.0.102}\n"                                  \
		     "services:\n"                                                                 \
		     "  - {name: a, addresses: [203.0.113.10, 203.0.113.11], protocol: tcp,"       \
		     " ports: [80], pool: web}\n"                                                  \
		     "  - {name: b, addresses: [203.0.113.11], protocol: tcp, ports: [443],"       \
		     " pool: web}\n"

static void parts_begin(const char *text)
{
	config = fixture_config(text);
	CU_ASSERT_EQUAL_FATAL(gw_config_expand(config), 0);
}

static void each_further_address_has_a_pool_of_its_own(void)
{
	const struct gw_config_pool *part;
	uint8_t address[16];

	parts_begin(TUNNEL(", via: tunnel"));
	CU_ASSERT_EQUAL_FATAL(config->pool_count, 2);
	CU_ASSERT_EQUAL_FATAL(config->service_count, 3);
	part = gw_config_pool_find(config, "web@203.0.113.11");
	CU_ASSERT_PTR_NOT_NULL_FATAL(part);
	CU_ASSERT_STRING_EQUAL(part->base, "web");
	CU_ASSERT_STRING_EQUAL(part->backends[1].id, "web@203.0.113.11/b2");
	gw_address_parse("203.0.113.11", address);
	CU_ASSERT_EQUAL(memcmp(part->probe_address, address, 16), 0);
	gw_address_parse("203.0.113.10", address);
	CU_ASSERT_EQUAL(memcmp(gw_config_pool_find(config, "web")->probe_address, address, 16), 0);
	CU_ASSERT_PTR_EQUAL(
		gw_config_service_find(config, "a")->pool, gw_config_pool_find(config, "web"));
	CU_ASSERT_PTR_EQUAL(gw_config_service_find(config, "a@203.0.113.11")->pool, part);
	/* Another service at that address shares the part, and keeps its name. */
	CU_ASSERT_PTR_EQUAL(gw_config_service_find(config, "b")->pool, part);
	gw_config_free(config);
}

static void without_the_tunnel_nothing_is_split(void)
{
	parts_begin(TUNNEL(""));
	CU_ASSERT_EQUAL(config->pool_count, 1);
	CU_ASSERT_EQUAL(config->service_count, 2);
	CU_ASSERT_FALSE(config->pools[0].has_probe_address);
	gw_config_free(config);
}

static void a_dump_tells_nothing_of_parts(void)
{
	struct gw_config *whole = fixture_config(TUNNEL(", via: tunnel"));
	json_t *wanted = gw_config_dump(whole), *dump;

	parts_begin(TUNNEL(", via: tunnel"));
	dump = gw_config_dump(config);
	CU_ASSERT_TRUE(json_equal(dump, wanted));
	json_decref(dump);
	json_decref(wanted);
	gw_config_free(config);
	gw_config_free(whole);
}

static const struct gw_effect *part_effect(size_t i)
{
	gw_runtime_advance(runtime, T);
	gw_runtime_pool(
		runtime, gw_config_pool_find(config, "web@203.0.113.11"), T, effects, &pool);
	return &effects[i];
}

static void health_is_the_parts_own_and_what_is_said_of_the_pool_counts_there(void)
{
	parts_begin(TUNNEL(", via: tunnel"));
	runtime = gw_runtime_new();
	CU_ASSERT_EQUAL_FATAL(gw_runtime_apply(runtime, config, 1000, NULL, NULL), 0);
	gw_runtime_set_health(runtime, "web", "b1", GW_HEALTH_DOWN, "refused", T);
	CU_ASSERT_TRUE(part_effect(0)->member);
	CU_ASSERT_FALSE(at(T, 0)->member);
	gw_runtime_override_state(runtime, "web", "b2", GW_CONFIG_DRAIN, "ann", "", T);
	CU_ASSERT_EQUAL(part_effect(1)->reason, GW_REASON_OVERRIDE_DRAIN);
	CU_ASSERT_TRUE(part_effect(1)->drain_until_ms > T);
	/* Unless something was said of the part. */
	gw_runtime_override_state(
		runtime, "web@203.0.113.11", "b2", GW_CONFIG_DISABLED, "ann", "", T);
	CU_ASSERT_EQUAL(part_effect(1)->reason, GW_REASON_OVERRIDE_DISABLED);
	gw_runtime_override_weight(runtime, "web", "b1", 5, "ann", "", T);
	CU_ASSERT_EQUAL(part_effect(0)->base_weight, 5);
	end();
}

static const struct gw_test tests[] = {
	GW_TEST(first_flips_are_free_and_later_ones_hold_for_longer),
	GW_TEST(staying_up_in_service_forgives),
	GW_TEST(enabling_by_hand_ends_a_hold),
	GW_TEST(a_held_backend_is_not_healthy_for_panic),
	GW_TEST(damping_survives_a_reload_and_a_restart),
	GW_TEST(a_clock_set_back_holds_nobody_for_ever),
	GW_TEST(no_more_than_the_limit_enter_within_its_time),
	GW_TEST(leaving_is_never_delayed_by_the_limit),
	GW_TEST(down_and_up_between_two_builds_is_as_if_nothing_had_been),
	GW_TEST(a_new_pool_starts_whole_and_at_full_weight),
	GW_TEST(weight_rises_in_equal_steps_to_the_full),
	GW_TEST(a_rising_member_that_fails_leaves_at_once),
	GW_TEST(hundredths_change_no_table_but_by_the_one_that_rises),
	GW_TEST(initial_says_how_a_newcomer_begins),
	GW_TEST(each_further_address_has_a_pool_of_its_own),
	GW_TEST(without_the_tunnel_nothing_is_split),
	GW_TEST(a_dump_tells_nothing_of_parts),
	GW_TEST(health_is_the_parts_own_and_what_is_said_of_the_pool_counts_there),
};

GW_SUITE("runtime enter", tests)
