/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How the monitor asks: one probe for all who would ask the same, evenly over the interval, faster
 * in transition; and what it keeps of the answers. Against a listener on loopback, every address of
 * 127.0.0.0/8 being one.
 */
#include "base/address.h"
#include "control/monitor.h"
#include "loop_run.h"
#include "suite.h"

#include <uv.h>

#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MANY 500

/* No probe ever runs out of time: a busy machine must not look like a backend that is down. */
#define TIMEOUT_MS 60000

static uv_loop_t loop;
static uv_tcp_t listener;
static uint16_t port;
static struct gw_monitor *monitor;
static int connections;

/* A configuration lives until the next is in use, so there are two to take turns. */
static struct model {
	struct gw_config config;
	struct gw_config_pool pools[2];
	struct gw_config_backend backends[2][MANY];
} models[2];
static int turn;
static struct gw_config *config;
static struct gw_config_pool *pools;
static struct gw_config_backend (*backends)[MANY];
static enum gw_health healths[2];

static enum gw_health known(void *owner, const char *pool, const char *name)
{
	return healths[pool[0] - 'a'];
}

static bool presumed(void *owner, const char *pool, const char *name)
{
	return false;
}

static void changed(
	void *owner, const char *pool, const char *name, const struct gw_health_change *change)
{
	healths[pool[0] - 'a'] = change->to;
}

static void failed(void *owner, const char *pool, const char *name, const char *text)
{
}

static void peer_closed(uv_handle_t *handle)
{
	free(handle);
}

static void connected(uv_stream_t *stream, int status)
{
	uv_tcp_t *peer = calloc(1, sizeof(*peer));

	connections++;
	uv_tcp_init(&loop, peer);
	uv_accept(stream, (uv_stream_t *)peer);
	uv_close((uv_handle_t *)peer, peer_closed);
}

static void begin(void)
{
	const struct gw_monitor_events events = {
		.known = known, .presumed = presumed, .changed = changed, .failed = failed};
	struct sockaddr_in address;
	int length = sizeof(address);

	uv_loop_init(&loop);
	uv_tcp_init(&loop, &listener);
	uv_ip4_addr("0.0.0.0", 0, &address);
	CU_ASSERT_EQUAL_FATAL(uv_tcp_bind(&listener, (struct sockaddr *)&address, 0), 0);
	CU_ASSERT_EQUAL_FATAL(uv_listen((uv_stream_t *)&listener, 1024, connected), 0);
	uv_tcp_getsockname(&listener, (struct sockaddr *)&address, &length);
	port = ntohs(address.sin_port);
	connections = 0;
	healths[0] = healths[1] = GW_HEALTH_UNKNOWN;
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

/* Pools "a" and "b", with `count` backends each at 127.1.x.y, the same in both. */
static void model_make(size_t pool_count, size_t count, uint32_t interval_ms)
{
	static char names[MANY][16], ids[2][MANY][16];

	turn = !turn;
	memset(&models[turn], 0, sizeof(models[turn]));
	config = &models[turn].config;
	pools = models[turn].pools;
	backends = models[turn].backends;
	*config = (struct gw_config){.pools = pools, .pool_count = pool_count};
	for (size_t p = 0; p < pool_count; p++) {
		pools[p].name = p ? "b" : "a";
		pools[p].backends = backends[p];
		pools[p].backend_count = count;
		pools[p].check = (struct gw_config_check){.type = GW_CONFIG_CHECK_TCP,
			.interval_ms = interval_ms,
			.fast_interval_ms = interval_ms,
			.timeout_ms = TIMEOUT_MS,
			.rise = 1,
			.fall = 3,
			.port = port};
		for (size_t i = 0; i < count; i++) {
			char address[32];

			snprintf(names[i], sizeof(names[i]), "b%zu", i);
			snprintf(ids[p][i], sizeof(ids[p][i]), "%s/b%zu", pools[p].name, i);
			snprintf(address, sizeof(address), "127.1.%zu.%zu", i / 250, i % 250 + 1);
			backends[p][i] =
				(struct gw_config_backend){.name = names[i], .id = ids[p][i]};
			gw_address_parse(address, backends[p][i].address);
		}
	}
}

static struct gw_monitor_view view_of(const char *pool, const char *name)
{
	struct gw_monitor_view view = {0};

	CU_ASSERT_TRUE_FATAL(gw_monitor_view(monitor, pool, name, &view));
	return view;
}

/* Whether "a/b0" has had so many answers. */
static bool has_answers(void *of)
{
	return view_of("a", "b0").durations->count >= *(const uint64_t *)of;
}

static void run_until_answers(uint64_t count)
{
	CU_ASSERT_TRUE(loop_run_until(&loop, has_answers, &count));
}

static void equal_probes_are_one_and_each_counts_it_by_its_own_rise(void)
{
	begin();
	model_make(2, 1, 60);
	pools[1].check.rise = 1000;
	gw_monitor_configure(monitor, config);
	run_until_answers(4);
	CU_ASSERT_EQUAL(healths[0], GW_HEALTH_UP);
	CU_ASSERT_EQUAL(healths[1], GW_HEALTH_UNKNOWN);
	CU_ASSERT_EQUAL(view_of("a", "b0").shared_by, 2);
	CU_ASSERT_EQUAL(view_of("b", "b0").shared_by, 2);
	/* As many connections as answers to one of them; one more may be under way. */
	CU_ASSERT_TRUE(abs(connections - (int)view_of("a", "b0").durations->count) <= 1);
	CU_ASSERT_EQUAL(view_of("a", "b0").durations->count, view_of("b", "b0").durations->count);
	end();
}

static bool both_have_answers(void *of)
{
	return view_of("a", "b0").durations->count && view_of("b", "b0").durations->count;
}

static void another_check_is_another_probe(void)
{
	begin();
	model_make(2, 1, 60);
	pools[1].check.timeout_ms = TIMEOUT_MS / 2;
	gw_monitor_configure(monitor, config);
	CU_ASSERT_EQUAL(view_of("a", "b0").shared_by, 1);
	CU_ASSERT_EQUAL(view_of("b", "b0").shared_by, 1);
	/* They become one, and two again, without losing what was kept. */
	CU_ASSERT_TRUE(loop_run_until(&loop, both_have_answers, NULL));
	model_make(2, 1, 60);
	gw_monitor_configure(monitor, config);
	CU_ASSERT_EQUAL(view_of("b", "b0").shared_by, 2);
	CU_ASSERT_TRUE(view_of("b", "b0").durations->count >= 1);
	model_make(2, 1, 60);
	pools[0].check.port = (uint16_t)(port + 1);
	gw_monitor_configure(monitor, config);
	CU_ASSERT_EQUAL(view_of("a", "b0").shared_by, 1);
	end();
}

/*
 * Probes due in each tenth of an interval, which is a circle: from what the loop holds for now, and
 * that may be a while ago.
 */
struct spread {
	uint32_t interval_ms;
	int tenths[10];
	int under_way; /* or overdue: due at no time yet */
};

static void spread_look(struct spread *spread)
{
	memset(spread->tenths, 0, sizeof(spread->tenths));
	spread->under_way = 0;
	for (size_t i = 0; i < MANY; i++) {
		struct gw_monitor_view view = view_of("a", backends[0][i].name);
		uint64_t at = view.due_in_ms % spread->interval_ms;

		if (view.under_way || !view.due_in_ms)
			spread->under_way++;
		else
			spread->tenths[at * 10 / spread->interval_ms]++;
	}
}

/* Seldom more, unless the machine let many become due at once. */
static bool few_are_under_way(void *of)
{
	struct spread *spread = of;

	spread_look(spread);
	return spread->under_way <= 20;
}

static void spread_is_even(const struct spread *spread)
{
	for (int i = 0; i < 10; i++) {
		/* 50 each; the jitter of a twentieth blurs the edges. */
		CU_ASSERT_TRUE(spread->tenths[i] >= 20 && spread->tenths[i] <= 90);
		if (spread->tenths[i] < 20 || spread->tenths[i] > 90)
			printf("  tenth %d: %d of %d\n", i, spread->tenths[i], MANY);
	}
}

static void spread_becomes_even(uint32_t interval_ms)
{
	struct spread spread = {.interval_ms = interval_ms};

	CU_ASSERT_TRUE(loop_run_until(&loop, few_are_under_way, &spread));
	spread_is_even(&spread);
}

static void many_are_spread_evenly_after_a_start_and_after_a_reload(void)
{
	struct spread first = {.interval_ms = 1000};

	begin();
	healths[0] = GW_HEALTH_UP; /* as a restart knows them */
	model_make(1, MANY, 1000);
	gw_monitor_configure(monitor, config);
	spread_look(&first);
	spread_is_even(&first);
	loop_run_for(&loop, 1300);
	spread_becomes_even(1000);
	gw_monitor_configure(monitor, config);
	spread_becomes_even(1000);
	/* Another interval is another rhythm for all at once. */
	model_make(1, MANY, 2000);
	gw_monitor_configure(monitor, config);
	spread_becomes_even(2000);
	end();
}

static void newcomers_are_asked_within_the_interval(void)
{
	begin();
	model_make(1, MANY, 1000);
	gw_monitor_configure(monitor, config);
	for (size_t i = 0; i < MANY; i++)
		CU_ASSERT_TRUE(view_of("a", backends[0][i].name).due_in_ms <= MANY / 2 + 100);
	end();
}

static bool first_is_down(void *of)
{
	return healths[0] == GW_HEALTH_DOWN;
}

static void failures_are_followed_up_faster_until_they_are_settled(void)
{
	struct gw_monitor_view view;

	begin();
	model_make(1, 1, 3000);
	pools[0].check.fast_interval_ms = 50;
	healths[0] = GW_HEALTH_UP;
	uv_close((uv_handle_t *)&listener, NULL);
	gw_monitor_configure(monitor, config);
	CU_ASSERT_TRUE_FATAL(loop_run_until(&loop, first_is_down, NULL));
	view = view_of("a", "b0");
	CU_ASSERT_TRUE_FATAL(view.answer_count >= 3);
	/* From the first failure to the third: two fast intervals, not two of three seconds. */
	CU_ASSERT_TRUE(view.answers[view.answer_count - 3]->time_ms -
			       view.answers[view.answer_count - 1]->time_ms <
		       5000);
	CU_ASSERT_FALSE(view.fast);
	CU_ASSERT_TRUE(view.due_in_ms > 500); /* settled: back to the slow rhythm */
	end();
}

static void answers_are_kept_newest_first_with_their_durations(void)
{
	struct gw_monitor_view view;
	uint64_t sum = 0;

	begin();
	model_make(1, 1, 20);
	gw_monitor_configure(monitor, config);
	run_until_answers(GW_ANSWERS_KEPT + 1);
	view = view_of("a", "b0");
	CU_ASSERT_EQUAL_FATAL(view.answer_count, GW_ANSWERS_KEPT);
	for (size_t i = 0; i + 1 < view.answer_count; i++)
		CU_ASSERT_TRUE(view.answers[i]->time_ms >= view.answers[i + 1]->time_ms);
	CU_ASSERT_STRING_EQUAL(view.answers[0]->text, "connected");
	CU_ASSERT_TRUE(view.answers[0]->success);
	for (size_t i = 0; i <= GW_DURATION_BUCKETS; i++)
		sum += view.durations->buckets[i];
	CU_ASSERT_EQUAL(sum, view.durations->count);
	CU_ASSERT_TRUE(view.durations->count > GW_ANSWERS_KEPT);
	CU_ASSERT_TRUE(view.durations->sum_us > 0);
	CU_ASSERT_FALSE(gw_monitor_view(monitor, "a", "nobody", &view));
	end();
}

static const struct gw_test tests[] = {
	GW_TEST(equal_probes_are_one_and_each_counts_it_by_its_own_rise),
	GW_TEST(another_check_is_another_probe),
	GW_TEST(many_are_spread_evenly_after_a_start_and_after_a_reload),
	GW_TEST(newcomers_are_asked_within_the_interval),
	GW_TEST(failures_are_followed_up_faster_until_they_are_settled),
	GW_TEST(answers_are_kept_newest_first_with_their_durations),
};

GW_SUITE("monitor targets", tests)
