/* SPDX-License-Identifier: BSD-2-Clause */
/* Targets: when each is asked, and what becomes of the answer. */
#include "base/log.h"
#include "control/monitor_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Backends asked in one millisecond when all are new. */
#define FIRST_PROBES_PER_MS 2
#define FIRST_SPREAD_MIN_MS 100

/* 2^32 divided by the golden ratio: its multiples are spread evenly for any count of them. */
#define GOLDEN 2654435769u

#define JITTER_SHARE 20 /* of the interval */

const uint32_t gw_duration_bounds_us[GW_DURATION_BUCKETS] = {
	250, 500, 1000, 2500, 5000, 10000, 25000, 50000, 100000, 250000, 1000000, 5000000};

static uint64_t random_below(struct gw_monitor *monitor, uint64_t limit)
{
	/* xorshift64: spreads timers, decides nothing. */
	monitor->random ^= monitor->random << 13;
	monitor->random ^= monitor->random >> 7;
	monitor->random ^= monitor->random << 17;
	return limit ? monitor->random % limit : 0;
}

static bool text_equal(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static bool bytes_equal(const struct gw_config_bytes *a, const struct gw_config_bytes *b)
{
	return a->length == b->length && (!a->length || !memcmp(a->data, b->data, a->length));
}

static bool lists_equal(const void *a, size_t a_count, const void *b, size_t b_count, size_t size)
{
	return a_count == b_count && (!a_count || !memcmp(a, b, a_count * size));
}

/* What a probe does and when; rise and fall are each watch's own. */
static bool check_equal(const struct gw_config_check *a, const struct gw_config_check *b)
{
	return a->type == b->type && a->via == b->via && a->interval_ms == b->interval_ms &&
	       a->fast_interval_ms == b->fast_interval_ms && a->timeout_ms == b->timeout_ms &&
	       a->port == b->port && text_equal(a->path, b->path) && text_equal(a->host, b->host) &&
	       bytes_equal(&a->body, &b->body) && text_equal(a->sni, b->sni) &&
	       a->verify == b->verify && text_equal(a->ca_file, b->ca_file) &&
	       bytes_equal(&a->send, &b->send) && bytes_equal(&a->receive, &b->receive) &&
	       text_equal(a->query, b->query) && a->query_type == b->query_type &&
	       text_equal(a->answer, b->answer) && text_equal(a->grpc_service, b->grpc_service) &&
	       lists_equal(a->expect, a->expect_count, b->expect, b->expect_count,
		       sizeof(*a->expect)) &&
	       lists_equal(
		       a->rcodes, a->rcode_count, b->rcodes, b->rcode_count, sizeof(*a->rcodes));
}

bool target_equal(const struct target_way *way_a, const struct gw_config_check *check_a,
	const struct target_way *way_b, const struct gw_config_check *check_b)
{
	return !memcmp(way_a, way_b, sizeof(*way_a)) && check_equal(check_a, check_b);
}

struct target *target_new(struct gw_monitor *monitor)
{
	struct target *target = calloc(1, sizeof(*target));

	if (!target)
		return NULL;
	target->monitor = monitor;
	target->phase = (uint32_t)(++monitor->phases_given * GOLDEN);
	uv_timer_init(monitor->loop, &target->timer);
	target->timer.data = target;
	return target;
}

static void target_closed(uv_handle_t *handle)
{
	free(handle->data);
}

void target_free(struct target *target)
{
	target_stop(target);
	if (target->mark)
		gw_check_tunnel_give(target->monitor->tunnel, target->mark);
	uv_close((uv_handle_t *)&target->timer, target_closed);
}

uint64_t target_stop(struct target *target)
{
	uint64_t left = UINT64_MAX;

	if (target->probe) {
		target->probe->ops->cancel(target->probe);
		left = 0; /* it was due already */
	} else if (uv_is_active((uv_handle_t *)&target->timer)) {
		left = uv_timer_get_due_in(&target->timer);
	}
	target->probe = NULL;
	uv_timer_stop(&target->timer);
	return left;
}

static void probe_begin(struct target *target);

static void timer_ran_out(uv_timer_t *timer)
{
	probe_begin(timer->data);
}

/* The next time at the target's phase that is not before `earliest`. */
static uint64_t phase_next(const struct target *target, uint64_t earliest)
{
	uint64_t interval = target->check->interval_ms;
	uint64_t offset = target->phase * interval >> 32;
	uint64_t at = earliest - earliest % interval + offset;

	return at < earliest ? at + interval : at;
}

static bool in_transition(const struct target *target)
{
	for (const struct watch *watch = target->watches; watch; watch = watch->next_of_target)
		if (watch_in_transition(watch))
			return true;
	return false;
}

static void probe_schedule(struct target *target)
{
	struct gw_monitor *monitor = target->monitor;
	const struct gw_config_check *check = target->check;
	uint64_t interval = check->interval_ms, now = uv_now(monitor->loop), due;

	target->fast = check->fast_interval_ms < interval && in_transition(target);
	if (target->fast) {
		due = target->probe_started + check->fast_interval_ms;
	} else {
		/* The phase, which the probe before was at unless it was a first or fast one. */
		due = phase_next(target, target->probe_started + interval / 2);
		due -= random_below(monitor, interval / JITTER_SHARE);
	}
	uv_timer_start(&target->timer, timer_ran_out, due > now ? due - now : 0, 0);
}

static void answer_keep(
	struct watch *watch, bool success, uint64_t took_us, int64_t wall_ms, const char *text)
{
	struct gw_probe_answer *answer = &watch->answers[watch->answer_count++ % GW_ANSWERS_KEPT];
	struct gw_durations *durations = &watch->durations;
	size_t bucket = 0;

	answer->time_ms = wall_ms;
	answer->duration_us = took_us > UINT32_MAX ? UINT32_MAX : (uint32_t)took_us;
	answer->success = success;
	memccpy(answer->text, text, '\0', sizeof(answer->text) - 1);
	while (bucket < GW_DURATION_BUCKETS && took_us > gw_duration_bounds_us[bucket])
		bucket++;
	durations->buckets[bucket]++;
	durations->count++;
	durations->sum_us += took_us;
}

static int64_t wall_ms_now(void)
{
	uv_timeval64_t now;

	uv_gettimeofday(&now);
	return now.tv_sec * 1000 + now.tv_usec / 1000;
}

static void result_take(struct target *target, bool success, const char *text)
{
	uint64_t took_us = (uv_hrtime() - target->probe_started_ns) / 1000;
	int64_t wall_ms = wall_ms_now();

	for (struct watch *watch = target->watches; watch; watch = watch->next_of_target) {
		answer_keep(watch, success, took_us, wall_ms, text);
		watch_take(watch, success, text);
	}
}

static void probe_ended(void *owner, const struct gw_check_outcome *outcome)
{
	struct target *target = owner;

	target->probe = NULL;
	result_take(target, outcome->success, outcome->text);
	probe_schedule(target);
}

/* Tried again with each probe: what failed may come right. */
static int mark_take(struct target *target)
{
	return target->mark ? 0
			    : gw_check_tunnel_take(
				      target->monitor->tunnel, &target->way.outer, &target->mark);
}

/* Our own want of something says nothing of the backend. */
static bool error_is_ours(int error)
{
	return error == -EMFILE || error == -ENFILE || error == -ENOMEM || error == -ENOBUFS ||
	       error == -EADDRNOTAVAIL || error == -EPERM || error == -EACCES;
}

/* The probe could not be made; that says nothing of who is asked. */
static void probe_missed(struct target *target, int error)
{
	struct gw_monitor *monitor = target->monitor;

	if (!monitor->start_failed)
		gw_log_warning("cannot probe %s: %s; its health stays as it is",
			target->watches->id, strerror(-error));
	monitor->start_failed = true;
	probe_schedule(target);
}

static void probe_begin(struct target *target)
{
	const struct gw_check_ops *ops = gw_check_ops_find(target->check->type);
	bool tunnel = target->check->via == GW_CONFIG_VIA_TUNNEL;
	struct gw_check_target whom = {.address = target->way.address,
		.source = tunnel ? target->way.source : NULL,
		.check = target->check};
	struct gw_monitor *monitor = target->monitor;
	int ret = tunnel ? mark_take(target) : 0;

	target->probe_started = uv_now(monitor->loop);
	target->probe_started_ns = uv_hrtime();
	if (ret) {
		probe_missed(target, ret);
		return;
	}
	whom.mark = target->mark;
	ret = ops->start(monitor->checker, &whom, probe_ended, target, &target->probe);
	if (!ret) {
		monitor->start_failed = false;
	} else if (error_is_ours(ret) || (tunnel && ret == -ENETUNREACH)) {
		probe_missed(target, ret);
	} else {
		result_take(target, false, uv_strerror(ret));
		probe_schedule(target);
	}
}

void target_start(struct target *target, bool known, uint64_t resume_ms)
{
	uint64_t interval = target->check->interval_ms, now = uv_now(target->monitor->loop);
	uint64_t spread = target->monitor->count / FIRST_PROBES_PER_MS + FIRST_SPREAD_MIN_MS;
	uint64_t wait = resume_ms;

	if (wait == UINT64_MAX && known)
		wait = phase_next(target, now) - now;
	else if (wait == UINT64_MAX)
		wait = target->phase * (spread < interval ? spread : interval) >> 32;
	uv_timer_start(&target->timer, timer_ran_out, wait, 0);
}
