/* SPDX-License-Identifier: BSD-2-Clause */
#include "control/monitor.h"

#include "base/log.h"
#include "control/check.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Backends asked in one millisecond when all are new. */
#define FIRST_PROBES_PER_MS 2
#define FIRST_SPREAD_MIN_MS 100

struct watch {
	struct gw_monitor *monitor;
	char *id;
	uint8_t address[16];
	struct gw_health_track track;
	const struct gw_config_pool *pool;	 /* of the configuration in use, */
	const struct gw_config_backend *backend; /* both NULL while it is exchanged */
	uv_timer_t timer;
	struct gw_probe *probe; /* NULL: none under way */
	uint64_t probe_started;
};

struct gw_monitor {
	uv_loop_t *loop;
	struct gw_checker *checker;
	struct gw_monitor_events events;
	struct watch **watches; /* sorted by id */
	size_t count;
	uint64_t random;
	bool start_failed; /* said once, until a probe starts again */
};

static uint64_t random_below(struct gw_monitor *monitor, uint64_t limit)
{
	/* xorshift64: spreads timers, decides nothing. */
	monitor->random ^= monitor->random << 13;
	monitor->random ^= monitor->random >> 7;
	monitor->random ^= monitor->random << 17;
	return limit ? monitor->random % limit : 0;
}

static int watch_compare(const void *a, const void *b)
{
	return strcmp((*(struct watch *const *)a)->id, (*(struct watch *const *)b)->id);
}

static int watch_compare_id(const void *id, const void *element)
{
	return strcmp(id, (*(struct watch *const *)element)->id);
}

static struct watch *watch_find(const struct gw_monitor *monitor, const char *id)
{
	struct watch **found = monitor->count ? bsearch(id, monitor->watches, monitor->count,
							sizeof(*monitor->watches), watch_compare_id)
					      : NULL;

	return found ? *found : NULL;
}

static struct watch *watch_new(struct gw_monitor *monitor, const char *id)
{
	struct watch *watch = calloc(1, sizeof(*watch));

	if (!watch)
		return NULL;
	watch->id = strdup(id);
	if (!watch->id) {
		free(watch);
		return NULL;
	}
	watch->monitor = monitor;
	uv_timer_init(monitor->loop, &watch->timer);
	watch->timer.data = watch;
	return watch;
}

static void watch_closed(uv_handle_t *handle)
{
	struct watch *watch = handle->data;

	free(watch->id);
	free(watch);
}

static void watch_stop(struct watch *watch)
{
	if (watch->probe)
		watch->probe->ops->cancel(watch->probe);
	watch->probe = NULL;
	uv_timer_stop(&watch->timer);
}

static void watch_free(struct watch *watch)
{
	watch_stop(watch);
	uv_close((uv_handle_t *)&watch->timer, watch_closed);
}

static void probe_begin(struct watch *watch);

static void timer_ran_out(uv_timer_t *timer)
{
	probe_begin(timer->data);
}

static void probe_schedule(struct watch *watch)
{
	struct gw_monitor *monitor = watch->monitor;
	uint64_t interval = watch->pool->check.interval_ms;
	uint64_t due = watch->probe_started + interval - random_below(monitor, interval / 20);
	uint64_t now = uv_now(monitor->loop);

	uv_timer_start(&watch->timer, timer_ran_out, due > now ? due - now : 0, 0);
}

static void result_take(struct watch *watch, bool success, const char *text)
{
	const struct gw_monitor_events *events = &watch->monitor->events;
	const char *pool = watch->pool->name, *name = watch->backend->name;
	struct gw_health_rules rules = {
		.rise = watch->pool->check.rise,
		.fall = watch->pool->check.fall,
		.presumed = watch->track.health == GW_HEALTH_UNKNOWN &&
			    events->presumed(events->owner, pool, name),
	};
	struct gw_health_change change;

	if (!success)
		events->failed(events->owner, pool, name, text);
	if (gw_health_feed(&watch->track, &rules, success, text, &change))
		events->changed(events->owner, pool, name, &change);
}

static void probe_ended(void *owner, const struct gw_check_outcome *outcome)
{
	struct watch *watch = owner;

	watch->probe = NULL;
	result_take(watch, outcome->success, outcome->text);
	probe_schedule(watch);
}

/* Our own want of something says nothing of the backend. */
static bool error_is_ours(int error)
{
	return error == -EMFILE || error == -ENFILE || error == -ENOMEM || error == -ENOBUFS ||
	       error == -EADDRNOTAVAIL || error == -EPERM || error == -EACCES;
}

static void probe_begin(struct watch *watch)
{
	const struct gw_check_ops *ops = gw_check_ops_find(watch->pool->check.type);
	struct gw_check_target target = {.address = watch->address, .check = &watch->pool->check};
	struct gw_monitor *monitor = watch->monitor;
	int ret;

	watch->probe_started = uv_now(monitor->loop);
	ret = ops->start(monitor->checker, &target, probe_ended, watch, &watch->probe);
	if (ret && error_is_ours(ret)) {
		if (!monitor->start_failed)
			gw_log_warning("cannot probe %s: %s; its health stays as it is", watch->id,
				strerror(-ret));
		monitor->start_failed = true;
	} else if (ret) {
		result_take(watch, false, uv_strerror(ret));
	} else {
		monitor->start_failed = false;
		return;
	}
	probe_schedule(watch);
}

static void address_changed(struct watch *watch)
{
	const struct gw_monitor_events *events = &watch->monitor->events;
	struct gw_health_change change = {
		.from = watch->track.health,
		.to = GW_HEALTH_UNKNOWN,
		.cause = "its address changed",
	};

	watch->track = (struct gw_health_track){.health = GW_HEALTH_UNKNOWN};
	if (change.from != GW_HEALTH_UNKNOWN)
		events->changed(events->owner, watch->pool->name, watch->backend->name, &change);
}

static bool text_equal(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static bool check_equal(const struct gw_config_check *a, const struct gw_config_check *b)
{
	return a->type == b->type && a->via == b->via && a->interval_ms == b->interval_ms &&
	       a->timeout_ms == b->timeout_ms && a->port == b->port &&
	       text_equal(a->path, b->path) && text_equal(a->host, b->host) &&
	       a->expect_count == b->expect_count &&
	       !(a->expect_count &&
		       memcmp(a->expect, b->expect, a->expect_count * sizeof(*a->expect)));
}

/* When the next probe of a watch begins whose rhythm is new. */
static uint64_t first_delay(struct watch *watch)
{
	uint64_t spread = watch->monitor->count / FIRST_PROBES_PER_MS + FIRST_SPREAD_MIN_MS;

	if (watch->track.health != GW_HEALTH_UNKNOWN || spread > watch->pool->check.interval_ms)
		spread = watch->pool->check.interval_ms;
	return random_below(watch->monitor, spread);
}

/* What a watch was before the configuration changed. */
struct former {
	const struct gw_config_check *check; /* NULL: it is new */
	uint64_t due_ms;		     /* of its next probe */
};

static struct former watch_former(const struct watch *watch)
{
	struct former former = {.check = watch->pool ? &watch->pool->check : NULL};

	if (!watch->probe && uv_is_active((const uv_handle_t *)&watch->timer))
		former.due_ms = uv_timer_get_due_in(&watch->timer);
	return former;
}

static void watch_configure(struct watch *watch, const struct gw_config_pool *pool,
	const struct gw_config_backend *backend)
{
	const struct gw_monitor_events *events = &watch->monitor->events;
	struct former former = watch_former(watch);
	bool moved = former.check && memcmp(watch->address, backend->address, 16);
	bool same = former.check && !moved && check_equal(former.check, &pool->check);

	watch_stop(watch); /* a probe under way reads the old configuration */
	memcpy(watch->address, backend->address, 16);
	watch->pool = pool;
	watch->backend = backend;
	watch->track.health = events->known(events->owner, pool->name, backend->name);
	if (moved)
		address_changed(watch);
	if (!same)
		watch->track.streak = 0;
	if (pool->check.type != GW_CONFIG_CHECK_NONE)
		uv_timer_start(
			&watch->timer, timer_ran_out, same ? former.due_ms : first_delay(watch), 0);
}

static void watches_free(struct watch **watches, size_t count)
{
	for (size_t i = 0; i < count; i++)
		watch_free(watches[i]);
	free(watches);
}

static size_t backends_count(const struct gw_config *config)
{
	size_t count = 0;

	for (size_t p = 0; p < config->pool_count; p++)
		count += config->pools[p].backend_count;
	return count;
}

/* Watches for backends not yet known; NULL without memory. The known are in monitor->watches. */
static struct watch **watches_make(
	struct gw_monitor *monitor, const struct gw_config *config, size_t *made)
{
	struct watch **new = calloc(backends_count(config) + 1, sizeof(*new));
	size_t count = 0;

	for (size_t p = 0; new &&p < config->pool_count; p++)
		for (size_t b = 0; b < config->pools[p].backend_count; b++) {
			const char *id = config->pools[p].backends[b].id;

			if (watch_find(monitor, id))
				continue;
			new[count] = watch_new(monitor, id);
			if (!new[count++]) {
				watches_free(new, count - 1);
				return NULL;
			}
		}
	*made = count;
	return new;
}

/* The watches of this configuration, old and new, sorted; those no longer in it are freed. */
static void watches_merge(struct gw_monitor *monitor, struct watch **all, size_t made)
{
	for (size_t i = 0; i < monitor->count; i++) {
		if (monitor->watches[i]->backend)
			all[made++] = monitor->watches[i];
		else
			watch_free(monitor->watches[i]);
	}
	qsort(all, made, sizeof(*all), watch_compare);
	free(monitor->watches);
	monitor->watches = all;
	monitor->count = made;
}

int gw_monitor_configure(struct gw_monitor *monitor, const struct gw_config *config)
{
	struct watch **all;
	size_t made = 0;

	all = watches_make(monitor, config, &made);
	if (!all)
		return -ENOMEM;
	/* backend serves as a mark: who is not named by the new configuration has none. */
	for (size_t i = 0; i < monitor->count; i++)
		monitor->watches[i]->backend = NULL;
	for (size_t p = 0; p < config->pool_count; p++)
		for (size_t b = 0; b < config->pools[p].backend_count; b++) {
			struct watch *old = watch_find(monitor, config->pools[p].backends[b].id);

			if (old)
				old->backend = &config->pools[p].backends[b];
		}
	watches_merge(monitor, all, made);
	for (size_t p = 0; p < config->pool_count; p++)
		for (size_t b = 0; b < config->pools[p].backend_count; b++) {
			const struct gw_config_backend *backend = &config->pools[p].backends[b];

			watch_configure(
				watch_find(monitor, backend->id), &config->pools[p], backend);
		}
	return 0;
}

int gw_monitor_new(uv_loop_t *loop, const struct gw_monitor_events *events, struct gw_monitor **out)
{
	struct gw_monitor *monitor = calloc(1, sizeof(*monitor));
	int ret;

	if (!monitor)
		return -ENOMEM;
	monitor->loop = loop;
	monitor->events = *events;
	monitor->random = uv_hrtime() | 1;
	ret = gw_checker_new(loop, &monitor->checker);
	if (ret) {
		free(monitor);
		return ret;
	}
	*out = monitor;
	return 0;
}

void gw_monitor_free(struct gw_monitor *monitor)
{
	if (!monitor)
		return;
	watches_free(monitor->watches, monitor->count);
	gw_checker_free(monitor->checker);
	free(monitor);
}
